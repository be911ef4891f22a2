import { defineConfig, type Options } from "tsup"

const shared = {
  format: "esm",
  target: "node20",
  platform: "node",
  sourcemap: true
} as const

/** One file that runs with nothing beside it but Node: the ready image has no node_modules. */
export const readyServer: Options = {
  ...shared,
  entry: { "ready-server": "src/ready-server/main.ts" },
  noExternal: [/.*/],
  splitting: false,
  // CommonJS dependencies call require for Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from \"node:module\";\n" +
      "const require = __createRequire(import.meta.url);"
  }
}

export default defineConfig([
  // Both builds run at once in one folder, so only one of them may clean it, and not the other's file.
  { ...shared, entry: { berth: "src/main.ts" }, clean: ["!ready-server.js*"] },
  readyServer
])
