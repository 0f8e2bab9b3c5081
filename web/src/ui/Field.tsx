import {
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import styles from "./Field.module.css";

type Shared = {
  label: string;
  /** Help below the field. */
  hint?: ReactNode;
  /** The error of the entered value. */
  fault?: string | null;
  /** The label is only for screen readers. */
  bare?: boolean;
};

type FieldProps = Shared & InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> };

/** One line of text with its label, hint and error. */
export function Field({ label, hint, fault, bare, ...rest }: FieldProps) {
  const id = useId();
  return (
    <FieldFrame id={id} label={label} hint={hint} fault={fault} bare={bare}>
      <input {...given(id, fault)} {...rest} />
    </FieldFrame>
  );
}

type TextAreaProps = Shared & TextareaHTMLAttributes<HTMLTextAreaElement>;

/** Several lines of text. */
export function TextArea({ label, hint, fault, bare, ...rest }: TextAreaProps) {
  const id = useId();
  return (
    <FieldFrame id={id} label={label} hint={hint} fault={fault} bare={bare}>
      <textarea {...given(id, fault)} {...rest} />
    </FieldFrame>
  );
}

type SelectProps = Shared &
  SelectHTMLAttributes<HTMLSelectElement> & { options: { value: string; label: string }[] };

/** One of several options. */
export function Select({ label, hint, fault, bare, options, ...rest }: SelectProps) {
  const id = useId();
  return (
    <FieldFrame id={id} label={label} hint={hint} fault={fault} bare={bare}>
      <select {...given(id, fault)} {...rest}>
        {options.map((it) => (
          <option key={it.value} value={it.value}>
            {it.label}
          </option>
        ))}
      </select>
    </FieldFrame>
  );
}

/** Attributes that all kinds of fields share. */
const given = (id: string, fault: Shared["fault"]) => ({
  id,
  className: styles.input,
  "aria-invalid": fault ? true : undefined,
  "aria-describedby": `${id}-more`,
});

function FieldFrame({
  id,
  label,
  hint,
  fault,
  bare,
  children,
}: Shared & { id: string; children: ReactNode }) {
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={bare ? "visually-hidden" : styles.label}>
        {label}
      </label>
      {children}
      <div id={`${id}-more`} className={fault ? styles.fault : styles.hint}>
        {fault || hint}
      </div>
    </div>
  );
}
