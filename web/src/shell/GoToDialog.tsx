import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { tasksQuery } from "../annotate/queries";
import { may, type OpenProject } from "../api/session";
import { datasetsQuery } from "../datasets/queries";
import { monitorNamesQuery } from "../monitors/queries";
import { rubricsQuery } from "../rubrics/queries";
import { latestRunsQuery } from "../runs/queries";
import { Dialog } from "../ui/Dialog";
import { moment } from "../ui/format";
import styles from "./GoToDialog.module.css";
import { type Destination, matchDestinations } from "./goTo";

const PAGES: Destination[] = [
  { kind: "page", label: "Overview", address: "" },
  { kind: "page", label: "Monitors", address: "/monitors" },
  { kind: "page", label: "New monitor", address: "/new-monitor" },
  { kind: "page", label: "Traces", address: "/traces" },
  { kind: "page", label: "Runs", address: "/runs" },
  { kind: "page", label: "Compare runs", address: "/compare" },
  { kind: "page", label: "History of a suite", address: "/history" },
  { kind: "page", label: "Ranking", address: "/ranking" },
  { kind: "page", label: "Rubrics", address: "/rubrics" },
  { kind: "page", label: "New rubric", address: "/new-rubric" },
  { kind: "page", label: "Datasets", address: "/datasets" },
  { kind: "page", label: "Annotate", address: "/annotate" },
  { kind: "page", label: "Budget", address: "/budget" },
  { kind: "page", label: "Alerts", address: "/alerts" },
  { kind: "page", label: "Settings: members", address: "/settings/members" },
  { kind: "page", label: "Settings: API tokens", address: "/settings/tokens" },
  { kind: "page", label: "Settings: notifications", address: "/settings/notifications" },
  { kind: "page", label: "Settings: judges", address: "/settings/judges" },
  { kind: "page", label: "Settings: project and data", address: "/settings/data" },
  { kind: "page", label: "Settings: audit", address: "/settings/audit" },
];

/** Everything that can be opened by its name. Data is loaded when the dialog opens. */
function useDestinations(project: OpenProject): Destination[] {
  const enabled = may(project, "read");
  const monitors = useQuery({ ...monitorNamesQuery(project.id), enabled });
  const rubrics = useQuery({ ...rubricsQuery(project.id), enabled });
  const datasets = useQuery({ ...datasetsQuery(project.id), enabled });
  const runs = useQuery({ ...latestRunsQuery(project.id, 50), enabled });
  const tasks = useQuery({ ...tasksQuery(project.id), enabled: enabled && may(project, "annotate") });
  return [
    ...PAGES,
    ...(monitors.data ?? []).map(({ name }) => ({
      kind: "monitor",
      label: name,
      address: `/monitors/${encodeURIComponent(name)}`,
    })),
    ...(rubrics.data ?? []).map(({ id, name }) => ({
      kind: "rubric",
      label: name,
      address: `/rubrics/${id}`,
    })),
    ...(datasets.data ?? []).map(({ name }) => ({
      kind: "dataset",
      label: name,
      address: `/datasets/${encodeURIComponent(name)}`,
    })),
    ...(tasks.data?.items ?? []).map(({ id, name }) => ({
      kind: "task",
      label: name,
      address: `/annotate/${id}/overview`,
    })),
    ...(runs.data ?? []).map(({ id, suite, started }) => ({
      kind: "run",
      label: `${suite ?? "unnamed suite"}, ${moment(started)}`,
      address: `/runs/${id}`,
    })),
  ];
}

/** Opens a page, monitor, rubric, dataset, task or run by a part of its name. */
export function GoToDialog({ project, onClose }: { project: OpenProject; onClose: () => void }) {
  const navigate = useNavigate();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [selected, setSelected] = useState(0);
  const found = matchDestinations(useDestinations(project), text);
  // After the dialog has opened, which focuses its first button.
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    list.current?.children[selected]?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  const open = (destination: Destination | undefined) => {
    if (!destination) return;
    onClose();
    navigate({ href: `/p/${encodeURIComponent(project.name)}${destination.address}` });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const n = found.length;
    if (event.key === "ArrowDown" && n > 0) setSelected((selected + 1) % n);
    else if (event.key === "ArrowUp" && n > 0) setSelected((selected + n - 1) % n);
    else if (event.key === "Enter") open(found[selected]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        ref={input}
        className={styles.input}
        role="combobox"
        aria-label="Page, monitor, rubric, dataset, task or run"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${selected}` : undefined}
        placeholder="Page, monitor, rubric, dataset, task or run"
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setSelected(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id={`${id}-list`} role="listbox" aria-label="Matches" className={styles.list}>
        {found.map((destination, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys stay with the input, as a combobox has it.
          // biome-ignore lint/a11y/useFocusableInteractive: the same.
          <div
            key={`${destination.kind} ${destination.address}`}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === selected}
            onClick={() => open(destination)}
          >
            <span>{destination.label}</span>
            <span className={styles.kind}>{destination.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className={styles.kind}>No match.</p>}
    </Dialog>
  );
}
