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

type Checked = {
  problems: {
    severity: "error" | "warning" | "advice";
    code: string;
    line: number;
    column: number;
    end_line: number;
    end_column: number;
    message: string;
    notes: string[];
    help?: string | null;
    replacement?: string | null;
  }[];
  canonical?: Record<string, unknown> | null;
};
type JudgeView = {
  name: string;
  vendor?: string;
  is_priced: boolean;
  has_key: boolean;
  last_used?: string;
  error_rate?: number;
};
type Message = { role: string; content: string };

declare module "./openapi" {
  interface paths {
    "/api/v1/rubrics/check": Post<Nothing, { source: string; dialect?: string }, Checked>;
    "/api/v1/monitors/check": Post<Nothing, { source: string }, Checked>;
    "/api/v1/rubrics/prompt": Post<
      Nothing,
      { source: string; trace?: string },
      {
        prompts: {
          criterion: string;
          criteria: string[];
          messages: Message[];
          form?: Record<string, unknown> | null;
          unasked?: string | null;
        }[];
      }
    >;
    "/api/v1/rubrics/try": Post<
      Nothing,
      { source: string; traces: string[]; judge?: string; spend: boolean },
      { calls: number; cost: number | null; per_trace: number | null; id?: string }
    >;
    "/api/v1/presets": Get<Nothing, never, { name: string; description: string; source: string }[]>;
    "/api/v1/rubric-versions/{id}/diff": Get<Id, { from: string }, { sentences: string[] }>;
    "/api/v1/traces/{id}/exchanges": Get<
      Id,
      never,
      {
        judge: string;
        monitor?: string;
        rubric_version?: string;
        criterion?: string;
        time: string;
        messages: Message[];
        reply?: string;
        error?: string;
      }[]
    >;
    "/api/v1/judges": Get<Nothing, never, JudgeView[]>;
    "/api/v1/retention": Get<Nothing, never, { days?: number | null }>;
    "/api/v1/judges/ping": Post<Nothing, { judge: string }, { ok: boolean; ms: number; error?: string }>;
  }
}
export type Remark = Checked["problems"][number];
export type { JudgeView };
