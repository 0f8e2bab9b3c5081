import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { policy } from "./vite.config.ts";

/** Components fed by fixtures, under the policy that the server sends. */
export default defineConfig({
  root: "workbench",
  plugins: [react()],
  build: { outDir: "../dist-workbench", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0 },
  preview: { headers: { "Content-Security-Policy": policy() } },
});
