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
export async function answered<T>(asked: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asked.catch((): never => {
    throw new ServerGone();
  });
  if (response.ok) return data as T;
  const problem = (error ?? {}) as Partial<Schemas["Problem"]>;
  // A proxy that finds no server behind it.
  if ([502, 503, 504].includes(response.status) && !problem.title) throw new ServerGone();
  const title = problem.title ?? "Something broke";
  const detail = problem.detail ?? `it answered ${response.status}`;
  throw new Problem(response.status, title, detail, problem as Record<string, unknown>);
}

/** A door that the description does not know yet. */
export async function unlisted<T>(
  project: string,
  path: string,
  query: Record<string, string | number | boolean | string[] | undefined> = {},
): Promise<T> {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) words.append(name, String(one));
    }
  }
  const asked = async () => {
    const response = await fetch(`/api/v1${path}?${words}`, { headers: { "Jurist-Project": project } });
    const body = await response.json().catch(() => null);
    return response.ok ? { data: body as T, response } : { error: body, response };
  };
  return answered(asked());
}
