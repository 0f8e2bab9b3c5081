import type { ButtonHTMLAttributes, Ref } from "react";
import styles from "./Button.module.css";

export type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: "plain" | "main" | "quiet" | "danger" | "link" | "tool";
  ref?: Ref<HTMLButtonElement>;
};

/** An action on this page; navigation uses links. */
export function Button({ look = "plain", type = "button", className, ...rest }: ButtonProps) {
  return <button type={type} className={`${styles.button} ${className ?? ""}`} data-look={look} {...rest} />;
}

/** The class that makes a link look like a button; `data-look` as above. */
export const buttonClass = styles.button;
