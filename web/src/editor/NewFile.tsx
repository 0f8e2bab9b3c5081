import { type ReactNode, useState } from "react";
import type { BookPage } from "../ui/BookLink";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { PageHead } from "../ui/PageHead";
import { useFileCheck } from "./fileCheck";
import styles from "./NewFile.module.css";
import type { Checked } from "./queries";
import { SourceEditor } from "./SourceEditor";

type NewFileProps = {
  title: string;
  about: string;
  /** The page of the book about such files. */
  book: BookPage;
  /** Link to the list. */
  up: ReactNode;
  kind: "rubric" | "monitor";
  label: string;
  template: string;
  /** The label of the button, and its label while the request runs. */
  does: string;
  doing: string;
  note?: string;
  saving: {
    mutate: (file: { name: string; source: string }) => void;
    error: Error | null;
    isPending: boolean;
    reset: () => void;
  };
  /** Presets to start from; replaces the text. */
  start?: (replace: (text: string) => void) => ReactNode;
  /** Preview beside the text. */
  beside?: (text: string, checked: Checked | undefined) => ReactNode;
};

/** A form for a new file with a name; the file is checked while it is written. */
export function NewFile(props: NewFileProps) {
  const { title, about, book, up, kind, label, template, does, doing, note, saving, start, beside } = props;
  const [name, setName] = useState("");
  const [text, setText] = useState(template);
  const [isTried, setTried] = useState(false);
  const checked = useFileCheck(kind, text);
  const replace = (it: string) => {
    setText(it);
    if (saving.error) saving.reset();
  };
  const save = () => {
    setTried(true);
    if (name.trim() !== "") saving.mutate({ name: name.trim(), source: text });
  };
  return (
    <>
      <PageHead up={up} title={title} about={about} book={book} />
      <EditorLayout beside={beside?.(text, checked.data)}>
        <div className={styles.fields}>
          <Field
            label="Name"
            value={name}
            required
            maxLength={100}
            fault={isTried && name.trim() === "" ? "A name is required." : null}
            onChange={(it) => setName(it.target.value)}
          />
          {start?.(replace)}
        </div>
        <SourceEditor
          label={label}
          kind={kind}
          text={text}
          onTextChange={replace}
          problems={checked.data?.problems}
          error={saving.error}
          onSave={save}
        >
          <div className={styles.line}>
            <Button look="main" onClick={save} disabled={saving.isPending}>
              {saving.isPending ? doing : does}
            </Button>
            {note && <span className={styles.soft}>{note}</span>}
          </div>
        </SourceEditor>
      </EditorLayout>
    </>
  );
}

/** A file with its preview beside it, where there is room. */
export function EditorLayout({ children, beside }: { children: ReactNode; beside?: ReactNode }) {
  return (
    <div className={styles.desk} data-beside={beside ? true : undefined}>
      <div className={styles.form}>{children}</div>
      {beside && <aside className={styles.beside}>{beside}</aside>}
    </div>
  );
}
