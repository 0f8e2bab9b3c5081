// Doors that the server is about to have; a door that has come leaves this file.
type Json<T> = { headers: Record<string, unknown>; content: { "application/json": T } };
type Params<Path, Query> = Path & { query?: Query; header?: never; cookie?: never };
type Get<Path, Query, T> = {
  parameters: Params<Path, Query>;
  get: { parameters: Params<Path, Query>; requestBody?: never; responses: { 200: Json<T> } };
};
type Post<Path, Body, T> = {
  parameters: Params<Path, never>;
  post: {
    parameters: Params<Path, never>;
    requestBody: { content: { "application/json": Body } };
    responses: { 200: Json<T> };
  };
};
type Nothing = { path?: never };
type Id = { path: { id: string } };

export type RubricDifference = {
  kind: "added" | "removed" | "changed" | "reordered";
  what: string;
  from?: string | null;
  to?: string | null;
  sentence: string;
};
export type JudgeShown = {
  name: string;
  vendor: string;
  is_default: boolean;
  monitors: string[];
  key: "present" | "missing" | "not_needed";
  problem?: string | null;
  price?: { input: number; cached: number; output: number } | null;
  last_used?: string | null;
  n_calls: number;
  spent: number;
  n_grades: number;
  n_errors: number;
  error_rate?: number | null;
};

declare module "./openapi" {
  interface paths {
    "/api/v1/rubrics/try": Post<
      Nothing,
      { source: string; traces: string[]; judge?: string; spend: boolean },
      {
        id?: string | null;
        n_units: number;
        calls: number;
        cost?: number | null;
        judges: string[];
        per_trace: { trace: string; calls: number; least_calls: number; cost?: number | null }[];
      }
    >;
    "/api/v1/presets": Get<Nothing, never, { name: string; description: string; source: string }[]>;
    "/api/v1/rubric-versions/{id}/diff": Get<
      Id,
      { from: string },
      { from: string; to: string; changes: RubricDifference[] }
    >;
    "/api/v1/judges": Get<Nothing, never, JudgeShown[]>;
    "/api/v1/judges/ping": Post<
      Nothing,
      { judge: string },
      { ok: boolean; ms: number; error?: string | null; cost?: number | null; is_structured?: boolean | null }
    >;
  }
}
