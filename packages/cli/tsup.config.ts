import { defineConfig, type Options } from "tsup"
import { packThread, program, stdioShim } from "../../tsup.config.ts"

/** Tables that only the platform reads: the client shares the declarations beside them. */
const withoutTables: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "without-tables",
  setup: (build) => {
    build.onResolve({ filter: /^(zipcodes|any-ascii)$/ }, ({ path }) => ({ path, namespace: "nothing" }))
    build.onLoad({ filter: /^(zipcodes|any-ascii)$/, namespace: "nothing" }, () => ({ contents: "" }))
  }
}

const packaged = { outDir: "packages/cli/dist", minify: true, sourcemap: false } as const

/** The command line alone, with all that it uses: nothing has to be installed beside it. */
export default defineConfig([
  {
    ...program,
    ...packaged,
    entry: { client: "src/cli/client.ts" },
    noExternal: [/.*/],
    // The builds run at once in one folder.
    clean: ["!stdio-shim.js", "!pack-thread.js"],
    esbuildPlugins: [withoutTables, ...program.esbuildPlugins ?? []]
  },
  // What serves a folder's stdio server in its image.
  { ...stdioShim, ...packaged },
  // What packs its image.
  { ...packThread, ...packaged }
])
