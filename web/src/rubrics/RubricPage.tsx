import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api, type Schemas, unwrap } from "../api/client";
import { may, useProject } from "../api/session";
import { useFileCheck } from "../editor/fileCheck";
import { EditorLayout } from "../editor/NewFile";
import { SourceEditor } from "../editor/SourceEditor";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { CodeText } from "../ui/CodeText";
import { Select } from "../ui/Field";
import { FormError } from "../ui/Form";
import { plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { Tabs } from "../ui/Tabs";
import { useToast } from "../ui/Toast";
import type { Canonical } from "./canonical";
import { rubricDiffQuery, rubricQuery, rubricVersionsQuery, type TaggedRubric } from "./queries";
import { AnnotatorPreview, JudgePrompt, RubricPreview } from "./RubricPreview";
import styles from "./Rubrics.module.css";
import { RubricTrialView } from "./RubricTrial";
import type { RubricView } from "./search";
import { nameOfVersion } from "./versions";

type Rubric = TaggedRubric;
type Version = Schemas["RubricVersionView"];

/** One rubric: its versions, its form and prompt, and what changed between versions. */
export function RubricPage() {
  const project = useProject();
  const { rubric: id } = useParams({ from: "/p/$project/rubrics/$rubric" });
  const rubric = useQuery(rubricQuery(project.id, id));
  const versions = useQuery(rubricVersionsQuery(project.id, id));
  return (
    <Loaded query={rubric} what="the rubric">
      {(it) => (
        <Loaded query={versions} what="its versions">
          {(all) => <RubricDetail rubric={it} versions={all} />}
        </Loaded>
      )}
    </Loaded>
  );
}

/** The file of a version, or its canonical form where there is no file. */
const sourceOf = (it: Version): string => it.source ?? JSON.stringify(it.canonical, null, 2);

const VIEWS: { name: RubricView; label: string }[] = [
  { name: "preview", label: "Annotator view" },
  { name: "prompt", label: "Judge prompt" },
  { name: "changes", label: "Changes" },
  { name: "try", label: "Try on traces" },
  { name: "file", label: "File" },
];

function RubricDetail({ rubric, versions }: { rubric: Rubric; versions: Version[] }) {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/rubrics/$rubric" });
  const navigate = useNavigate({ from: "/p/$project/rubrics/$rubric" });
  const set = (change: Partial<typeof search>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const at = Math.max(
    0,
    versions.findIndex((it) => it.id === search.version),
  );
  const version = versions[at];
  const view = search.view ?? "preview";
  const nameOf = (it: Version) => nameOfVersion(versions, it.id) ?? it.id;
  if (!version) return <Notice title="The rubric has no version yet" />;
  return (
    <>
      <PageHead
        up={
          <Link to="/p/$project/rubrics" params={{ project: project.name }}>
            Rubrics
          </Link>
        }
        title={rubric.name}
        book="files.html"
        about={
          <>
            <span title={version.id}>{nameOf(version)}</span> of {plural(versions.length, "version")}{" "}
            {rubric.archived && <Badge>archived</Badge>}
          </>
        }
      >
        <Select
          label="Version"
          bare
          value={version.id}
          options={versions.map((it, n) => ({
            value: it.id,
            label: `${nameOf(it)}${n === 0 ? ", newest" : ""}`,
          }))}
          onChange={(it) =>
            set({
              version: it.target.value === versions[0]?.id ? undefined : it.target.value,
              from: undefined,
            })
          }
        />
        {may(project, "write") && <ArchiveButton rubric={rubric} />}
      </PageHead>
      <Tabs
        label="Views of the rubric"
        tabs={VIEWS}
        selected={view}
        onSelect={(name) => set({ view: name === "preview" ? undefined : name })}
      >
        {view === "preview" && (
          <AnnotatorPreview key={version.id} name={rubric.name} canonical={version.canonical as Canonical} />
        )}
        {view === "prompt" && <JudgePrompt source={sourceOf(version)} />}
        {view === "try" && <RubricTrialView source={sourceOf(version)} />}
        {view === "changes" && (
          <VersionChanges
            version={version}
            versions={versions}
            from={versions.find((it) => it.id === search.from) ?? versions[at + 1]}
            onFrom={(from) => set({ from })}
          />
        )}
        {view === "file" && (
          <RubricFile
            key={version.id}
            rubric={rubric}
            version={version}
            isNewest={at === 0}
            onMade={() => set({ version: undefined })}
          />
        )}
      </Tabs>
    </>
  );
}

function ArchiveButton({ rubric }: { rubric: Rubric }) {
  const project = useProject();
  const queries = useQueryClient();
  const changing = useMutation({
    mutationFn: () =>
      unwrap(
        api(project.id).PATCH("/api/v1/rubrics/{id}", {
          params: { path: { id: rubric.id } },
          body: { archived: !rubric.archived },
        }),
      ),
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ["rubric", project.id, rubric.id] }),
        queries.invalidateQueries({ queryKey: ["rubrics", project.id] }),
      ]),
  });
  return (
    <>
      <Button onClick={() => changing.mutate()} disabled={changing.isPending}>
        {rubric.archived ? "Restore" : "Archive"}
      </Button>
      <FormError error={changing.error} />
    </>
  );
}

type VersionChangesProps = {
  version: Version;
  versions: Version[];
  from: Version | undefined;
  onFrom: (id: string) => void;
};

function VersionChanges({ version, versions, from, onFrom }: VersionChangesProps) {
  const project = useProject();
  const changes = useQuery(rubricDiffQuery(project.id, version.id, from?.id));
  if (!from) {
    return (
      <Notice title="No earlier version">
        <p>This is the first version.</p>
      </Notice>
    );
  }
  return (
    <section className={styles.part}>
      <div className={styles.narrow}>
        <Select
          label="Compare with"
          value={from.id}
          options={versions
            .filter((it) => it.id !== version.id)
            .map((it) => ({ value: it.id, label: nameOfVersion(versions, it.id) ?? it.id }))}
          onChange={(it) => onFrom(it.target.value)}
        />
      </div>
      <Loaded query={changes} what="the changes">
        {({ changes: all }) =>
          all.length === 0 ? <Notice title="No differences" /> : <VersionDifferences all={all} />
        }
      </Loaded>
    </section>
  );
}

function VersionDifferences({ all }: { all: Schemas["RubricDifference"][] }) {
  return (
    <ul className={styles.changes} aria-label="Changes">
      {all.map((it, at) => (
        <li key={at} data-kind={it.kind}>
          {it.kind === "changed" ? (
            <>
              <b>{it.what}</b>
              <del>{it.from ?? "(default)"}</del>
              <ins>{it.to ?? "(default)"}</ins>
            </>
          ) : (
            <b>
              <CodeText text={it.sentence} />
            </b>
          )}
        </li>
      ))}
    </ul>
  );
}

type RubricFileProps = { rubric: Rubric; version: Version; isNewest: boolean; onMade: () => void };

function RubricFile({ rubric, version, isNewest, onMade }: RubricFileProps) {
  const project = useProject();
  const queries = useQueryClient();
  const toast = useToast();
  const before = sourceOf(version);
  const [text, setText] = useState(before);
  const checked = useFileCheck("rubric", text);
  const making = useMutation({
    mutationFn: () =>
      unwrap(
        api(project.id).POST("/api/v1/rubrics/{id}/versions", {
          params: { path: { id: rubric.id }, header: { "if-match": rubric.tag ?? undefined } },
          body: { source: text },
        }),
      ),
    onSuccess: async (made) => {
      toast(made.id === version.id ? "No change: the rubric is the same." : "New version created.");
      await Promise.all([
        queries.invalidateQueries({ queryKey: ["rubric", project.id, rubric.id] }),
        queries.invalidateQueries({ queryKey: ["rubric-versions", project.id, rubric.id] }),
        queries.invalidateQueries({ queryKey: ["rubrics", project.id] }),
      ]);
      onMade();
    },
  });
  const mayWrite = may(project, "write");
  const isChanged = text !== before;
  return (
    <EditorLayout beside={<RubricPreview name={rubric.name} source={text} checked={checked.data} />}>
      <SourceEditor
        label="Rubric file"
        kind="rubric"
        problems={checked.data?.problems}
        text={text}
        onTextChange={(it) => {
          setText(it);
          if (making.error) making.reset();
        }}
        error={making.error}
        onSave={() => isChanged && making.mutate()}
        readOnly={!mayWrite}
      >
        {mayWrite && (
          <div className={styles.line}>
            <Button look="main" onClick={() => making.mutate()} disabled={!isChanged || making.isPending}>
              {making.isPending ? "Saving…" : "Save as new version"}
            </Button>
            {isChanged && (
              <Button
                onClick={() => {
                  setText(before);
                  making.reset();
                }}
              >
                Discard changes
              </Button>
            )}
            <span className={styles.soft}>
              {isNewest
                ? "Grades of earlier versions do not change. Monitors keep the version in their own file."
                : "This is an earlier version. Saving creates a new version from it."}
            </span>
          </div>
        )}
      </SourceEditor>
    </EditorLayout>
  );
}
