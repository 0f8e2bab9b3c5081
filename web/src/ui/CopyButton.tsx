import { useState } from "react";
import { Button, type ButtonProps } from "./Button";

type CopyButtonProps = { text: string; look?: ButtonProps["look"] };

/** Copies a text to the clipboard. */
export function CopyButton({ text, look = "main" }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <Button look={look} onClick={copy}>
      {isCopied ? "Copied" : "Copy"}
    </Button>
  );
}
