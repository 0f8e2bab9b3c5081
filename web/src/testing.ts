import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

afterEach(cleanup);

// A busy machine is no failure.
configure({ asyncUtilTimeout: 30_000 });
