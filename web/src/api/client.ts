// The one way to the server: typed by its own description, and every failure one of two kinds.
import createClient from "openapi-fetch";
import type { components as contract } from "./contract";
import type { components, paths } from "./openapi";

export type Schemas = components["schemas"];
export type Contract = contract["schemas"];

/** The server answered, and the answer is no (RFC 9457). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    detail: string,
    /** What else the answer says, by name. */
    readonly more: Record<string, unknown> = {},
  ) {
    super(detail);
  }
}

/** Nothing answered. */
export class ServerGone extends Error {
  constructor() {
    super("the server does not answer");
  }
}

const clients = new Map<string | null, ReturnType<typeof createClient<paths>>>();

/** The API for one project; `null` for what belongs to none. */
export function api(project: string | null) {
  let client = clients.get(project);
  if (!client) {
    const headers = project ? { "Jurist-Project": project } : undefined;
    // Looked up at each request, so that tests can put their own in its place.
    client = createClient<paths>({ baseUrl: location.origin, headers, fetch: (it) => fetch(it) });
    clients.set(project, client);
  }
  return client;
}

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The answer itself, or what went wrong, thrown. */
export async function unwrap<T>(asked: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asked.catch((): never => {
    throw new ServerGone();
  });
  if (response.ok) return data as T;
  const problem = (error ?? {}) as Partial<Schemas["Problem"]>;
  // A proxy that finds no server behind it.
  if ([502, 503, 504].includes(response.status) && !problem.title) throw new ServerGone();
  const title = problem.title ?? "Something broke";
  const detail = problem.detail ?? `it unwrap ${response.status}`;
  throw new Problem(response.status, title, detail, problem as Record<string, unknown>);
}

/** The same where the client forgets how many numbers there are, as of intervals. */
export const unwrapAs = <T>(asked: Promise<Answer<unknown>>): Promise<T> => unwrap(asked) as Promise<T>;
