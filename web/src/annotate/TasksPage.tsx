import { PageHead } from "../shell/Shell";
import { State } from "../ui/State";

/** Where people find what waits for them. */
export function TasksPage() {
  return (
    <>
      <PageHead title="Annotate" />
      <State title="Nothing waits for you">
        <p>Tasks appear here once somebody of this project starts one.</p>
      </State>
    </>
  );
}
