import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./style/fonts.css";
import "./style/tokens.css";
import "./style/base.css";
import { Problem } from "./api/client";
import { router } from "./router";
import { KeyHelp } from "./ui/KeyHelp";
import { Toasts } from "./ui/Toast";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Only requests without an answer are retried; an error status would come again.
      retry: (n, error) => !(error instanceof Problem) && n < 2,
      refetchInterval: (query) =>
        query.state.error && !(query.state.error instanceof Problem) ? 4000 : false,
      staleTime: 5000,
    },
  },
});

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Toasts>
        <KeyHelp>
          <RouterProvider router={router} />
        </KeyHelp>
      </Toasts>
    </QueryClientProvider>
  </StrictMode>,
);
