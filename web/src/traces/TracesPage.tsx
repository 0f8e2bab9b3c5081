import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { answered, api, type Schemas } from "../api/client";
import { useProject } from "../api/session";
import type { TracesSearch } from "../router";
import { More, PageHead } from "../shell/Shell";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Field, Select } from "../ui/Field";
import { Loaded } from "../ui/Loaded";
import { State } from "../ui/State";
import { count, duration, money } from "../ui/say";
import { type Column, Table } from "../ui/Table";
import { Time } from "../ui/Time";
import styles from "./TracesPage.module.css";

type Head = Schemas["Head"];

/** Traces, the newest first; which ones is in the address. */
export function TracesPage() {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/traces" });
  const traces = useInfiniteQuery({
    queryKey: ["traces", project.id, search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      answered(api(project.id).GET("/api/v1/traces", { params: { query: { ...search, after: pageParam } } })),
    getNextPageParam: (last) => last.next ?? undefined,
  });
  const isFiltered = Object.values(search).some((it) => it !== undefined);
  return (
    <>
      <PageHead title="Traces" about="What agents did, the newest first." />
      <Filter />
      <Loaded query={traces} what="traces">
        {({ pages }) => {
          const rows = pages.flatMap((it) => it.items);
          if (rows.length > 0) {
            return (
              <>
                <Traces rows={rows} project={project.name} />
                <More query={traces} />
              </>
            );
          }
          return isFiltered ? <NoneFit /> : <NoneYet />;
        }}
      </Loaded>
    </>
  );
}

function Traces({ rows, project }: { rows: Head[]; project: string }) {
  const columns: Column<Head>[] = [
    {
      name: "id",
      head: "Trace",
      cell: (it) => (
        <Link
          to="/p/$project/traces/$trace"
          params={{ project, trace: it.id }}
          className={titleOf(it) ? styles.title : styles.id}
        >
          {titleOf(it) && <bdi>{titleOf(it)}</bdi>}
          <span className={styles.id}>{it.id}</span>
        </Link>
      ),
    },
    { name: "agent", head: "Agent", cell: (it) => it.agent ?? "–" },
    { name: "state", head: "Ended", cell: (it) => <Ended trace={it} /> },
    { name: "steps", head: "Steps", align: "end", cell: (it) => count(it.n_steps), wide: true },
    { name: "tokens", head: "Tokens", align: "end", wide: true, cell: tokens },
    { name: "cost", head: "Cost", align: "end", cell: (it) => money(it.cost), wide: true },
    { name: "took", head: "Took", align: "end", cell: (it) => duration(it.duration_ms), wide: true },
    { name: "began", head: "Began", align: "end", cell: (it) => <Time at={it.started} /> },
  ];
  return <Table caption="Traces" columns={columns} rows={rows} keyOf={(it) => it.id} />;
}

/** What whoever sent it calls it. */
export function titleOf({ metadata }: Head): string | undefined {
  const told = metadata as Record<string, unknown> | null | undefined;
  const found = told?.title ?? told?.name ?? told?.task;
  return typeof found === "string" && found.trim() !== "" ? found.trim().slice(0, 200) : undefined;
}

/** Where nothing was told, nothing is claimed. */
const tokens = (it: Head) =>
  it.tokens.input + it.tokens.output === 0 ? "–" : count(it.tokens.input + it.tokens.output);

export function Ended({ trace }: { trace: Head }) {
  if (trace.state === "open" || trace.state === "reopened") return <Badge tone="accent">{trace.state}</Badge>;
  if (trace.state === "erased") return <Badge>erased</Badge>;
  return (
    <Badge tone={trace.is_failed ? "fail" : "plain"}>
      {trace.is_failed ? `✕ ${trace.status ?? "failed"}` : (trace.status ?? "finished")}
    </Badge>
  );
}

function Filter() {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/traces" });
  const navigate = useNavigate({ from: "/p/$project/traces" });
  const agents = useQuery({
    queryKey: ["agents", project.id],
    queryFn: () => answered(api(project.id).GET("/api/v1/agents")),
  });
  const set = (change: Partial<TracesSearch>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const options = (any: string, names: string[]) => [
    { value: "", label: any },
    ...names.map((it) => ({ value: it, label: it })),
  ];
  const names = (agents.data ?? []).map((it) => it.name);
  return (
    <search className={styles.filter} aria-label="Which traces">
      <Select
        label="Agent"
        value={search.agent ?? ""}
        options={options(
          "any agent",
          search.agent && !names.includes(search.agent) ? [search.agent, ...names] : names,
        )}
        onChange={(it) => set({ agent: it.target.value || undefined })}
      />
      <Select
        label="Verdict"
        value={search.verdict ?? ""}
        options={options("any or none", ["pass", "fail", "error", "deferred"])}
        onChange={(it) => set({ verdict: (it.target.value || undefined) as TracesSearch["verdict"] })}
      />
      <Select
        label="Ended"
        value={search.failed === undefined ? "" : String(search.failed)}
        options={[
          { value: "", label: "any way" },
          { value: "true", label: "failed" },
          { value: "false", label: "not failed" },
        ]}
        onChange={(it) => set({ failed: it.target.value ? it.target.value === "true" : undefined })}
      />
      <Select
        label="State"
        value={search.state ?? ""}
        options={options("any state", ["open", "finished", "reopened", "erased"])}
        onChange={(it) => set({ state: it.target.value || undefined })}
      />
      <Field
        key={`id ${search.id_prefix}`}
        label="Id begins with"
        type="search"
        defaultValue={search.id_prefix ?? ""}
        onBlur={(it) => set({ id_prefix: it.target.value.trim() || undefined })}
        onKeyDown={(it) => it.key === "Enter" && it.currentTarget.blur()}
      />
      <Field
        label="Since"
        type="date"
        value={search.from?.slice(0, 10) ?? ""}
        onChange={(it) => set({ from: it.target.value ? `${it.target.value}T00:00:00Z` : undefined })}
      />
      {search.session && (
        <Button onClick={() => set({ session: undefined })}>session {search.session} ✕</Button>
      )}
    </search>
  );
}

function NoneFit() {
  const navigate = useNavigate({ from: "/p/$project/traces" });
  return (
    <State
      title="No trace fits"
      action={<Button onClick={() => navigate({ search: {} })}>Show all traces</Button>}
    >
      <p>There may be some that do not fit what you chose above.</p>
    </State>
  );
}

function NoneYet() {
  return (
    <State title="No traces yet">
      <p>Point an OpenTelemetry exporter of your agent at this server, or send one by hand:</p>
      <pre>{`curl ${location.origin}/api/v1/traces \\
  -H 'Authorization: Bearer jrk_…' -H 'Content-Type: application/json' \\
  -d '{"id": "first", "agent": "me", "trace": [{"role": "user", "content": "Hello"}]}'`}</pre>
    </State>
  );
}
