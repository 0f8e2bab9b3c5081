import { useState } from "react";
import { Button } from "./Button";

/** Puts a text where it can be pasted from. */
export function CopyButton({ text }: { text: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
  };
  return (
    <Button look="main" onClick={copy}>
      {done ? "Copied" : "Copy"}
    </Button>
  );
}
