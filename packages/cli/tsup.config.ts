import { defineConfig, type Options } from "tsup"
import { program } from "../../tsup.config.ts"

/** Tables that only the platform reads: the client shares the declarations beside them. */
const withoutTables: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "without-tables",
  setup: (build) => {
    build.onResolve({ filter: /^(zipcodes|any-ascii)$/ }, ({ path }) => ({ path, namespace: "nothing" }))
    build.onLoad({ filter: /^(zipcodes|any-ascii)$/, namespace: "nothing" }, () => ({ contents: "" }))
  }
}

/** The command line alone, with all that it uses: nothing has to be installed beside it. */
export default defineConfig({
  ...program,
  entry: { client: "src/cli/client.ts" },
  outDir: "packages/cli/dist",
  noExternal: [/.*/],
  minify: true,
  sourcemap: false,
  clean: true,
  esbuildPlugins: [withoutTables, ...program.esbuildPlugins ?? []]
})
