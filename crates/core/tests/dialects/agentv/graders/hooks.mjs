export function beforeEach(context) {
  console.log(context.workspace_path);
}
