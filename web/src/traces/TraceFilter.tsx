import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useProject } from "../api/session";
import { Button } from "../ui/Button";
import { Field, Select } from "../ui/Field";
import { duration } from "../ui/format";
import { SearchField } from "../ui/SearchField";
import { type Facet, labelWithCount } from "./facets";
import { agentsQuery, traceCountsQuery } from "./queries";
import type { TracesSearch } from "./search";
import styles from "./TracesPage.module.css";
import {
  dayOfTime,
  endOfDay,
  lastDayOf,
  nameOfRange,
  RANGES,
  startOfDay,
  startOfRange,
  type TimeRange,
} from "./timeRange";

/** Filters of the list; all of them are in the address. */
export function TraceFilter() {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/traces" });
  const navigate = useNavigate({ from: "/p/$project/traces" });
  const agents = useQuery(agentsQuery(project.id));
  const set = (change: Partial<TracesSearch>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const counts = useQuery(traceCountsQuery(project.id, search)).data;
  const label = (facet: Facet, value: string, name = value) => labelWithCount(name, counts, facet, value);
  const options = (any: string, names: string[], facet?: Facet) => [
    { value: "", label: any },
    ...names.map((it) => ({ value: it, label: facet ? label(facet, it) : it })),
  ];
  const names = (agents.data ?? []).map((it) => it.name);
  return (
    <search className={styles.filter} aria-label="Filter traces">
      <SearchField
        search={search.search ?? ""}
        placeholder="title, id, agent, session"
        onSearch={(it) => set({ search: it || undefined })}
      />
      <Select
        label="Agent"
        value={search.agent ?? ""}
        options={options(
          "any agent",
          search.agent && !names.includes(search.agent) ? [search.agent, ...names] : names,
          "agent",
        )}
        onChange={(it) => set({ agent: it.target.value || undefined })}
      />
      <Select
        label="Verdict"
        value={search.verdict ?? ""}
        options={options("any verdict", ["pass", "fail", "error", "deferred"])}
        onChange={(it) => set({ verdict: (it.target.value || undefined) as TracesSearch["verdict"] })}
      />
      <YesNoSelect
        label="Score"
        words={["any", label("scored", "true", "has a score"), label("scored", "false", "has no score")]}
        value={search.scored}
        onChange={(scored) => set({ scored })}
      />
      <YesNoSelect
        label="Status"
        words={["any status", label("failed", "true", "failed"), label("failed", "false", "not failed")]}
        value={search.failed}
        onChange={(failed) => set({ failed })}
      />
      <Select
        label="State"
        value={search.state ?? ""}
        options={options("any state", ["open", "finished", "reopened", "erased"], "state")}
        onChange={(it) => set({ state: it.target.value || undefined })}
      />
      <TimeRangeFields from={search.from} until={search.until} onChange={set} />
      <ActiveFilters search={search} onRemove={(name) => set({ [name]: undefined })} />
    </search>
  );
}

/** How a filter without a field of its own is named. */
const OTHER_FILTERS: { name: keyof TracesSearch; label: (search: TracesSearch) => string }[] = [
  { name: "session", label: (it) => `session ${it.session}` },
  { name: "id_prefix", label: (it) => `id ${it.id_prefix}…` },
  { name: "status", label: (it) => `status ${it.status}` },
  { name: "min_cost", label: (it) => `cost from $${it.min_cost}` },
  { name: "min_duration_ms", label: (it) => `duration from ${duration(it.min_duration_ms)}` },
];

/** Filters that only links set, each with a button that removes it; and one that removes all. */
function ActiveFilters({
  search,
  onRemove,
}: {
  search: TracesSearch;
  onRemove: (name: keyof TracesSearch) => void;
}) {
  const navigate = useNavigate({ from: "/p/$project/traces" });
  const { sort, ...filters } = search;
  const isFiltered = Object.values(filters).some((it) => it !== undefined);
  if (!isFiltered) return null;
  return (
    <div className={styles.active}>
      {OTHER_FILTERS.filter(({ name }) => search[name] !== undefined).map(({ name, label }) => (
        <Button key={name} onClick={() => onRemove(name)}>
          {label(search)} ✕
        </Button>
      ))}
      <Button look="quiet" onClick={() => navigate({ search: { sort }, replace: true })}>
        Clear filters
      </Button>
    </div>
  );
}

type TimeRangeFieldsProps = TimeRange & { onChange: (range: TimeRange) => void };

/** A time range: up to now, or between two days. */
function TimeRangeFields({ from, until, onChange }: TimeRangeFieldsProps) {
  const named = nameOfRange({ from, until });
  const [isCustom, setCustom] = useState(false);
  const chosen = isCustom ? "custom" : named;
  const choose = (name: string) => {
    setCustom(name === "custom");
    if (name !== "custom") onChange({ from: startOfRange(name), until: undefined });
  };
  return (
    <>
      <Select
        label="Time range"
        value={chosen}
        options={[
          { value: "any", label: "any time" },
          ...RANGES.map((it) => ({ value: it.name, label: it.label })),
          { value: "custom", label: "between days…" },
        ]}
        onChange={(it) => choose(it.target.value)}
      />
      {chosen === "custom" && (
        <>
          <Field
            label="Since (UTC)"
            type="date"
            value={dayOfTime(from)}
            onChange={(it) => onChange({ from: startOfDay(it.target.value), until })}
          />
          <Field
            label="Until (UTC)"
            type="date"
            value={lastDayOf(until)}
            onChange={(it) => onChange({ from, until: endOfDay(it.target.value) })}
          />
        </>
      )}
    </>
  );
}

type YesNoSelectProps = {
  label: string;
  /** Labels for all, yes and no. */
  words: [string, string, string];
  value: boolean | undefined;
  onChange: (value: boolean | undefined) => void;
};

function YesNoSelect({ label, words: [all, yes, no], value, onChange }: YesNoSelectProps) {
  return (
    <Select
      label={label}
      value={value === undefined ? "" : String(value)}
      options={[
        { value: "", label: all },
        { value: "true", label: yes },
        { value: "false", label: no },
      ]}
      onChange={(it) => onChange(it.target.value ? it.target.value === "true" : undefined)}
    />
  );
}
