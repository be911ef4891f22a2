import { type ImageError, storageError } from "#src/images/ImageError.ts"
import { entriesBelow, type LayoutEntry } from "#src/images/layout.ts"
import { fileInMachine, type ImageConfig, type MachineFile } from "#src/machines/Machines.ts"
import { locate } from "#src/machines/sandbox/programs.ts"
import { foldersOf, librariesOf } from "#src/ready-image/libraries.ts"
import { copied, libraryPath, nodeRuntime } from "#src/ready-image/node-runtime.ts"
import { Effect } from "effect"
import { constants } from "node:fs"
import { chmod, copyFile, mkdir, realpath, rename, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { hostNode, type MachineNode } from "./machine-node.ts"
import { appFolder } from "./package-image.ts"
import { scriptRunner } from "./script-runner.ts"

/** What install scripts call as a rule, of the host's programs; those that it lacks are left out. */
const programs = (
  "sh bash env [ awk basename cat chmod cmp cp cut date diff dirname echo expr false find getconf grep gunzip gzip head id " +
  "install ln ls mkdir mktemp mv od patch printf pwd readlink realpath rm rmdir sed sha256sum sleep sort tail tar tee " +
  "test touch tr true uname uniq unzip wc which xargs xz"
).split(" ")

const npmFolder = "opt/npm"
/** Where it hands out what they wrote. */
const port = 8080
const runnerFile = "run-scripts.cjs"

/** What a machine is made of that runs the install scripts of a package. */
export interface ScriptMachine {
  readonly rootfs: string
  readonly config: ImageConfig
  readonly files: ReadonlyArray<MachineFile>
  readonly port: number
}

/** The runner as a program. esbuild may have wrapped named functions in a helper called `__name`. */
const runner = `const __name = (f) => f;(${scriptRunner.toString()})(require)\n`

const toolEntries = async () => {
  const found = programs.flatMap((name) => {
    const path = locate(name)
    return path === undefined ? [] : [{ name, path }]
  })
  const libraries = [...new Set((await Promise.all(found.map(({ path }) => librariesOf(path)))).flat())]
  const files = await Promise.all([
    ...found.map(async ({ name, path }) => ({ path: `/usr/bin/${name}`, source: await realpath(path) })),
    ...found.filter(({ name }) => /^(ba)?sh$/.test(name)).map(async ({ name, path }) => ({
      path: `/bin/${name}`,
      source: await realpath(path)
    })),
    ...libraries.map(async (path) => ({ path, source: await realpath(path) }))
  ])
  return { entries: files.map(copied), folders: foldersOf(libraries) }
}

const write = async (root: string, entry: LayoutEntry) => {
  const at = join(root, entry.path)
  if (entry.type === "directory") return mkdir(at, { recursive: true })
  await mkdir(dirname(at), { recursive: true })
  if (entry.type === "symlink") return symlink(entry.target, at)
  if (entry.type === "file") return writeFile(at, entry.content)
  await copyFile(entry.from, at, constants.COPYFILE_FICLONE)
  // Those of the host may be for root alone.
  return chmod(at, entry.mode ?? 0o644)
}

/**
 * Makes `root` the root file system of the machine that runs a package's install scripts: Node and npm, a shell and
 * the host's small programs, and the package, which is moved from `installed`. No compiler, no Python, no git.
 *
 * @param installed folder with `node_modules`, `package.json` and `package-lock.json`
 * @param npm folder of npm on the host, which runs on the machine's Node
 */
export const scriptMachine = (
  root: string,
  installed: string,
  npm: string,
  { binary }: MachineNode = hostNode
): Effect.Effect<ScriptMachine, ImageError> =>
  Effect.flatMap(entriesBelow(npm, npmFolder), (npmEntries) =>
    Effect.tryPromise({
      try: async () => {
        const node = await nodeRuntime(binary)
        const tools = await toolEntries()
        const app = join(root, appFolder)
        await mkdir(app, { recursive: true })
        // By path, so that what two of them need is written once.
        const all = new Map([...npmEntries, ...tools.entries, ...node.entries].map((entry) => [entry.path, entry]))
        for (const entry of all.values()) await write(root, entry)
        await rename(join(installed, "node_modules"), join(app, "node_modules"))
        for (const name of ["package.json", "package-lock.json"]) {
          await copyFile(join(installed, name), join(app, name))
        }
        return {
          rootfs: root,
          port,
          files: [{ name: runnerFile, content: runner }],
          config: {
            entrypoint: [node.node, fileInMachine(runnerFile)],
            cmd: [appFolder, `/${npmFolder}/bin/npm-cli.js`, String(port)],
            env: [
              ...node.env.filter((variable) => !variable.startsWith("LD_LIBRARY_PATH=")),
              ...libraryPath([...node.libraryFolders, ...tools.folders]),
              "HOME=/tmp",
              "CI=true"
            ],
            workingDir: "/",
            user: ""
          }
        }
      },
      catch: storageError("Making the machine of a package's install scripts")
    }))
