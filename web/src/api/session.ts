// The session: who is signed in, and which projects are open.
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { api, Problem, type Schemas, unwrap } from "./client";

export type Scope = "ingest" | "read" | "annotate" | "write" | "manage";
export type Session = Schemas["SessionView"];
export type OpenProject = Schemas["OpenProject"];

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: () => unwrap(api(null).GET("/api/v1/session")),
  staleTime: 60_000,
  // Every page reads the session; being signed out does not change by asking again.
  retryOnMount: false,
});

/** The request needs a signed-in account. */
export const isSignedOut = (error: unknown): boolean => error instanceof Problem && error.status === 401;

/** The project of the address. Only inside `ProjectShell`, which always has one. */
export function useProject(): OpenProject {
  const { project: name } = useParams({ from: "/p/$project" });
  const { data } = useQuery(sessionQuery);
  const found = data?.projects.find((it) => it.name === name);
  if (!found) throw new Error(`ProjectShell requires a project, but there is no ${name}`);
  return found;
}

export const may = (project: OpenProject, scope: Scope): boolean => project.scopes.includes(scope);
