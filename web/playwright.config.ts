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
  timeout: 120_000,
  expect: { timeout: 20_000 },
  // One that passes only then is listed as flaky.
  retries: 1,
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
