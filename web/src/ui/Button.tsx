import type { ButtonHTMLAttributes, Ref } from "react";
import styles from "./Button.module.css";

export type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: "plain" | "main" | "quiet" | "danger" | "link" | "tool";
  ref?: Ref<HTMLButtonElement>;
};

/** Does something here; what leads elsewhere is a link. */
export function Button({ look = "plain", type = "button", className, ...rest }: ButtonProps) {
  return <button type={type} className={`${styles.button} ${className ?? ""}`} data-look={look} {...rest} />;
}

/** What makes a link look like a button, for what is begun elsewhere; `data-look` as above. */
export const buttonClass = styles.button;
