import { useCallback } from "react";

export type PagedList = {
  hasNextPage: boolean;
  isFetching: boolean;
  isError: boolean;
  fetchNextPage: () => Promise<unknown>;
};

/** Loads the next page of a list, unless one is on its way. After an error the user asks for it. */
export function useLoadMore({ hasNextPage, isFetching, isError, fetchNextPage }: PagedList): () => void {
  return useCallback(() => {
    if (hasNextPage && !isFetching && !isError) fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
}
