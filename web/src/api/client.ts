// The client of the HTTP API, typed by its OpenAPI description. A request fails in one of two ways.
import createClient from "openapi-fetch";
import type { components as contract } from "./contract";
import type { components, paths } from "./openapi";

export type Schemas = components["schemas"];
export type Contract = contract["schemas"];

/** The request that failed, for the person who searches the log of the server. */
type FailedRequest = { path: string; time: string; id: string | null };

/** The server answered with an error (RFC 9457). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    detail: string,
    /** Further members of the answer, by name. */
    readonly more: Record<string, unknown> = {},
    readonly request?: FailedRequest,
  ) {
    super(detail);
  }

  /** Status, path, time and request id, in one line. */
  details(): string {
    const { path, time, id } = this.request ?? {};
    return [`HTTP ${this.status}`, path, time, id && `request ${id}`].filter(Boolean).join(" · ");
  }
}

/** No answer at all: the server or the network is down. */
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
    // `fetch` is looked up at each request, so that tests can replace it.
    client = createClient<paths>({ baseUrl: location.origin, headers, fetch: (it) => fetch(it) });
    clients.set(project, client);
  }
  return client;
}

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The data of an answer; throws `Problem` or `ServerGone`. */
export async function unwrap<T>(asked: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asked.catch((): never => {
    throw new ServerGone();
  });
  if (response.ok) return data as T;
  const problem = (error ?? {}) as Partial<Schemas["Problem"]>;
  // A proxy answers for a server that it cannot reach.
  if ([502, 503, 504].includes(response.status) && !problem.title) throw new ServerGone();
  const title = problem.title ?? "Request failed";
  const detail = problem.detail ?? `the server answered with status ${response.status}`;
  const request = {
    path: new URL(response.url, location.origin).pathname,
    time: new Date().toISOString(),
    // A proxy may remove the header; the body has the id as well.
    id: response.headers.get("x-request-id") ?? problem.request_id ?? null,
  };
  throw new Problem(response.status, title, detail, problem as Record<string, unknown>, request);
}

/** The same with another type: the generated types do not know tuples, such as intervals. */
export const unwrapAs = <T>(asked: Promise<Answer<unknown>>): Promise<T> => unwrap(asked) as Promise<T>;
