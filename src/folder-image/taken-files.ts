import { type LayoutEntry } from "#src/images/layout.ts"
import ignore, { type Ignore } from "ignore"
import { lstat, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"

/** Never taken, wherever they are: secrets, other people's code, and what only this machine has a use for. */
const never = (name: string) =>
  [".git", "node_modules", ".npmrc", ".berth", ".DS_Store", "berth.toml"].includes(name) || /^\.env(\.|$)/.test(name)

/** Where keys and passwords are by convention (docs/cli.md): taken only where the ignore file has a `!` for it. */
const isSecret = (name: string) =>
  [".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".netrc", ".git-credentials", ".pgpass", ".pypirc"]
    .includes(name) || /^id_(rsa|dsa|ecdsa|ed25519)$|\.(pem|key|p12|pfx|jks|keystore|ppk|kdbx)$/i.test(name)

interface Rules {
  /** The folder that the rules are written for, below the project's; empty for that itself. */
  readonly at: string
  readonly rules: Ignore
}

const textOf = (path: string) => readFile(path, "utf8").catch(() => undefined)

/** Docker's patterns begin at the folder's root, where git's hold at any depth. */
const asGit = (text: string) =>
  text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.replace(/^(!?)\/*/, "$1/")).join("\n")

const isLeftOut = (path: string, isDirectory: boolean, all: ReadonlyArray<Rules>, unsaid: boolean) => {
  let out = unsaid
  for (const { at, rules } of all) {
    const { ignored, unignored } = rules.test(path.slice(at.length) + (isDirectory ? "/" : ""))
    if (ignored || unignored) out = ignored
  }
  return out
}

export interface Taken {
  readonly entries: ReadonlyArray<LayoutEntry>
  /** Links, which are left out. */
  readonly links: ReadonlyArray<string>
  /** What is left out as a secret. */
  readonly secrets: ReadonlyArray<string>
  /** What is taken although the rules leave it out, because the program is there. */
  readonly despite: string | undefined
}

/**
 * The files of a project, without what `.dockerignore` leaves out, or without that what `.gitignore` does. Built files
 * often stand in `.gitignore`: the folder that has the program is taken all the same.
 *
 * @param program the program's file, below the folder
 * @param to where the files go in the image
 */
export const takenFiles = async (folder: string, program: string, to: string): Promise<Taken> => {
  const docker = await textOf(join(folder, ".dockerignore"))
  const entries: Array<LayoutEntry> = []
  const links: Array<string> = []
  const secrets: Array<string> = []
  const [top = ""] = program.split("/")
  let despite: string | undefined

  const walk = async (below: string, outer: ReadonlyArray<Rules>, isForced: boolean): Promise<void> => {
    const git = docker === undefined ? await textOf(join(folder, below, ".gitignore")) : undefined
    const rules = git === undefined ? outer : [...outer, { at: below, rules: ignore().add(git) }]
    for (const child of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below + child.name
      if (never(child.name)) continue
      const out = isLeftOut(path, child.isDirectory(), rules, false)
      if (isSecret(child.name) && isLeftOut(path, child.isDirectory(), rules, true)) {
        if (!out) secrets.push(path)
        continue
      }
      const forced = isForced || out && path === top
      if (out && !forced) continue
      if (out && path === top) despite = path
      if (child.isDirectory()) {
        entries.push({ type: "directory", path: `${to}/${path}` })
        await walk(`${path}/`, rules, forced)
      } else if (child.isFile()) {
        const from = join(folder, path)
        const isExecutable = ((await lstat(from)).mode & 0o111) > 0
        entries.push({ type: "copy", path: `${to}/${path}`, from, mode: isExecutable ? 0o755 : 0o644 })
      } else if (child.isSymbolicLink()) links.push(path)
    }
  }
  await walk("", docker === undefined ? [] : [{ at: "", rules: ignore().add(asGit(docker)) }], false)
  return { entries, links, secrets, despite }
}
