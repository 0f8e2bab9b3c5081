import { useCallback } from "react";

export type PagedList = {
  hasNextPage: boolean;
  isFetching: boolean;
  isFetchingNextPage: boolean;
  isError: boolean;
  error: Error | null;
  fetchNextPage: () => Promise<unknown>;
};

/** Loads the next page of a list, unless one is on its way. After an error the user asks for it. */
export function useLoadMore(list: PagedList): () => void {
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  return useCallback(() => {
    if (hasNextPage && !isFetching && !isError) fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
}
