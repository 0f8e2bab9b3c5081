import { useMutation } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useProject } from "../api/session";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { Form, useFields } from "../ui/Form";
import { Menu, MenuItem } from "../ui/Menu";
import { useToast } from "../ui/Toast";
import {
  deleteView,
  isSameView,
  LONGEST_NAME,
  readViews,
  type SavedView,
  STANDARD_VIEWS,
  saveView,
} from "./savedViews";
import type { TracesSearch } from "./search";
import styles from "./TracesPage.module.css";

/** The menu of views: standard ones, and those that were saved in this browser. */
export function SavedViews() {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/traces" });
  const navigate = useNavigate({ from: "/p/$project/traces" });
  const toast = useToast();
  const [saved, setSaved] = useState(() => readViews(project.id));
  const [open, setOpen] = useState<"save" | "delete">();
  const all = [...STANDARD_VIEWS, ...saved];
  const current = all.find((it) => isSameView(it.search, search));
  const copyLink = async () => {
    await navigator.clipboard.writeText(location.href);
    toast("Link copied.");
  };
  return (
    <>
      <Menu
        label={`View: ${current?.name ?? "custom"}`}
        button={<>View: {current?.name ?? "custom"} ▾</>}
        align="end"
        look="plain"
      >
        {(close) => (
          <>
            {all.map((it, at) => (
              <button
                key={`${at} ${it.name}`}
                type="button"
                role="menuitemradio"
                aria-checked={it === current}
                className={at === STANDARD_VIEWS.length ? styles.firstSaved : undefined}
                onClick={() => {
                  close();
                  navigate({ search: it.search });
                }}
              >
                {it.name}
              </button>
            ))}
            <hr />
            {!current && (
              <MenuItem close={close} onChoose={() => setOpen("save")}>
                Save this view…
              </MenuItem>
            )}
            <MenuItem close={close} onChoose={copyLink}>
              Copy link to this view
            </MenuItem>
            {saved.length > 0 && (
              <MenuItem close={close} onChoose={() => setOpen("delete")}>
                Delete views…
              </MenuItem>
            )}
          </>
        )}
      </Menu>
      {open === "save" && (
        <SaveViewDialog
          search={search}
          onClose={() => setOpen(undefined)}
          onSave={(view) => setSaved(saveView(project.id, view))}
        />
      )}
      {open === "delete" && (
        <DeleteViewsDialog
          views={saved}
          onClose={() => setOpen(undefined)}
          onDelete={(name) => setSaved(deleteView(project.id, name))}
        />
      )}
    </>
  );
}

type SaveViewDialogProps = { search: TracesSearch; onClose: () => void; onSave: (view: SavedView) => void };

function SaveViewDialog({ search, onClose, onSave }: SaveViewDialogProps) {
  const [entered, bind] = useFields({ name: "" });
  const saving = useMutation({
    mutationFn: async () => onSave({ name: entered.name, search }),
    onSuccess: onClose,
  });
  return (
    <Dialog title="Save this view" onClose={onClose}>
      <Form asked={saving} does="Save" isIncomplete={entered.name.trim() === ""}>
        <Field
          label="Name"
          hint="The view has the filters and the order of the list. It is stored in this browser; send its link to share it."
          required
          maxLength={LONGEST_NAME}
          {...bind("name")}
        />
      </Form>
    </Dialog>
  );
}

type DeleteViewsDialogProps = { views: SavedView[]; onClose: () => void; onDelete: (name: string) => void };

function DeleteViewsDialog({ views, onClose, onDelete }: DeleteViewsDialogProps) {
  return (
    <Dialog title="Delete views" onClose={onClose}>
      {views.length === 0 && <p>No saved views.</p>}
      <ul className={styles.views}>
        {views.map((it) => (
          <li key={it.name}>
            {it.name}
            <Button onClick={() => onDelete(it.name)} aria-label={`Delete ${it.name}`}>
              Delete
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
