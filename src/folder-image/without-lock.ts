import { readdir } from "node:fs/promises"
import { dirname } from "node:path"
import { type NodeProgram } from "./node-program.ts"

const others = ["pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"]

/** The lock of another installer than npm, in a folder or above it, where workspaces have it. */
const otherLock = async (folder: string): Promise<string | undefined> => {
  const names = await readdir(folder).catch((): ReadonlyArray<string> => [])
  const found = others.find((name) => names.includes(name))
  // A repository ends here.
  if (found !== undefined || names.includes(".git") || dirname(folder) === folder) return found
  return otherLock(dirname(folder))
}

/** npm takes a name, a version or a range; these are other installers' own. */
const isForOthers = (wanted: string) => /^(?:workspace|catalog|link|portal|patch):/.test(wanted)

const banner = "import { createRequire as maker } from \"node:module\"; const require = maker(import.meta.url);"

/** Makes one file of a program and all it needs, however that was installed: it needs no lock. */
export const bundling = ({ file, name = "server" }: Pick<NodeProgram, "file" | "name">): string =>
  [
    `  npx esbuild ${file} --bundle --platform=node --format=esm --outfile=berth/server.mjs --banner:js='${banner}'`,
    `  echo '${JSON.stringify({ name, bin: "server.mjs" })}' > berth/package.json`,
    "  npx berth deploy berth"
  ].join("\n")

/** What to do where a project has no lock of npm's. */
export const withoutLock = async (folder: string, program: NodeProgram): Promise<string> => {
  const other = await otherLock(folder)
  const none = "There is no package-lock.json, which says what is installed"
  if (other === undefined && !program.wants.some(isForOthers)) {
    return `${none}. Make one: npm install --package-lock-only`
  }
  return `${none}${
    other === undefined ? "" : ` (${other} is not read)`
  }. Make one file of the project, and deploy that:\n${
    bundling(program)
  }\nWhere that can't be done, add a Dockerfile of a server that listens on PORT`
}
