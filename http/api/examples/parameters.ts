import { digest, ids } from "./things.ts"

/** Values of path parameters: of the same things in each operation. */
export const pathExamples: Readonly<Record<string, string>> = {
  ...ids,
  importId: ids.previewId,
  digest,
  name: "GREETING",
  serverName: "com.example.berth/menu",
  version: "0.0.1"
}
