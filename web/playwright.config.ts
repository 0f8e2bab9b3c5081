import { defineConfig } from "@playwright/test";

// The system's own browser: nothing is downloaded.
const executablePath = process.env.JURIST_CHROMIUM ?? "/usr/bin/chromium";

// Where components fed by fixtures are shown; another one where two trees are tried at once.
export const BENCH = `http://localhost:${process.env.JURIST_BENCH_PORT ?? 4188}`;

export default defineConfig({
  testDir: "tests",
  globalSetup: "./tests/setup.ts",
  outputDir: "test-results",
  fullyParallel: true,
  workers: 2,
  // What must come is waited for; a busy machine takes many times as long as an idle one.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  // A test that passes the second time only is a fault to look for, not a test that passed.
  retries: 0,
  forbidOnly: true,
  reporter: [["list"]],
  use: {
    viewport: { width: 1440, height: 900 },
    launchOptions: { executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] },
  },
  webServer: {
    command: `npx vite preview --config vite.workbench.config.ts --port ${new URL(BENCH).port} --strictPort`,
    url: BENCH,
    reuseExistingServer: false,
  },
});
