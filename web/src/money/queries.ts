import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "../api/client";

export type Spend = Schemas["SpendShown"];
export type Alert = Schemas["AlertShown"];

export const spendQuery = (project: string, month?: string) =>
  queryOptions({
    queryKey: ["spend", project, month],
    queryFn: () => unwrap(api(project).GET("/api/v1/spend", { params: { query: { month } } })),
    refetchInterval: 30_000,
  });

/** Active alerts, the newest first. */
export const openAlertsQuery = (project: string) =>
  queryOptions({
    queryKey: ["alerts", project, "open"],
    queryFn: () => unwrap(api(project).GET("/api/v1/alerts", { params: { query: { limit: 100 } } })),
    refetchInterval: 30_000,
  });

/** All alerts, the newest first. */
export const pastAlertsQuery = (project: string) =>
  queryOptions({
    queryKey: ["alerts", project, "past"],
    queryFn: () =>
      unwrap(api(project).GET("/api/v1/alerts", { params: { query: { all: true, limit: 100 } } })),
    refetchInterval: 30_000,
  });

/** The spend of a monitor in the month; parts name it by name or id. */
export const spentBy = (spend: Spend, monitor: { id: string; name: string }): number =>
  spend.subjects.find((it) => it.name === monitor.name || it.name === monitor.id)?.spent ?? 0;

/** Alerts page by page: active ones, or resolved ones as well. */
export const alertsQuery = (project: string, all: boolean) =>
  infiniteQueryOptions({
    queryKey: ["alerts", project, all ? "all" : "active"],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      unwrap(api(project).GET("/api/v1/alerts", { params: { query: { all, after: pageParam } } })),
    getNextPageParam: (last) => last.next ?? undefined,
    refetchInterval: 10_000,
  });

export const notificationsQuery = (project: string) =>
  queryOptions({
    queryKey: ["notifications", project],
    queryFn: () => unwrap(api(project).GET("/api/v1/notifications")),
  });
