/** Keyboards of Apple have a Command key where others have Ctrl. */
const hasCommandKey = (): boolean => /^(Mac|iPhone|iPad)/.test(navigator.platform);

/** A key as this keyboard names it: `Ctrl K` is ⌘K with a Command key. `Ctrl Space` is the same everywhere. */
export function KeyName({ name }: { name: string }) {
  if (!hasCommandKey() || !name.startsWith("Ctrl ") || name === "Ctrl Space") return <kbd>{name}</kbd>;
  const key = name.slice("Ctrl ".length);
  return (
    <kbd>
      <span aria-hidden="true">⌘{key}</span>
      <span className="visually-hidden">Command {key}</span>
    </kbd>
  );
}
