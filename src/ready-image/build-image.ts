import { smallestConfig } from "#src/format/smallest-config.ts"
import { type LayoutEntry } from "#src/images/layout.ts"
import { bundledProgram } from "#src/shared/bundled-program.ts"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { cachedLayout, fingerprint } from "./cached-layout.ts"
import { compiledFile, compileProgram, compiler, launcher, programFile } from "./compiled-program.ts"
import { nodeRuntime } from "./node-runtime.ts"

export interface ReadyImage {
  /** Absolute path of the OCI image layout: `oci:` + path is its reference. */
  readonly path: string
  /** Digest of the image manifest. */
  readonly digest: string
  /** False when an image with the same content already existed. */
  readonly built: boolean
}

const folder = "app"

/**
 * Builds the OCI image of the ready server from scratch, without Docker: the Node that runs this, its libraries, and
 * the one bundled file, compiled before. Takes two or three seconds; does nothing when the inputs have not changed.
 *
 * @param outDir where the image layout goes; made when absent
 */
export const buildReadyImage = async (
  outDir: string,
  options: { readonly server?: string } = {}
): Promise<ReadyImage> => {
  const server = options.server ?? bundledProgram("ready-server.cjs")
  const { entries, env, files, node } = await nodeRuntime()
  const app = async (scratch: string): Promise<ReadonlyArray<LayoutEntry>> => [
    { type: "copy", path: `${folder}/${programFile}`, from: server },
    { type: "file", path: `${folder}/start.cjs`, content: launcher },
    {
      type: "file",
      path: `${folder}/${compiledFile}`,
      content: await compileProgram(server, { SVC_READY_CONFIG: JSON.stringify(smallestConfig) }, scratch)
    }
  ]
  return cachedLayout(
    resolve(outDir),
    await fingerprint(files, await readFile(server), launcher, compiler),
    async (scratch) => ({
      layers: [entries, await app(scratch)],
      config: { entrypoint: [node, `/${folder}/start.cjs`], cmd: [], env, workingDir: `/${folder}`, user: "" }
    })
  )
}
