import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { missingProgram } from "./needs.ts"
import { temporaryDirectory } from "./Settings.ts"

/** Why no Docker can be started here, or undefined. */
export const missingDocker = missingProgram("dockerd") ??
  (process.getuid?.() === 0 ? undefined : "Docker's daemon is started by root alone")

/** A real Docker daemon with nothing in it, without networks for containers; it stores layers as plain folders. */
export const dockerDaemon = async () => {
  const folder = temporaryDirectory("docker")
  const host = `unix://${join(folder, "docker.sock")}`
  const config = join(folder, "config")
  // Buildah, which reads it too, fails without.
  mkdirSync(config)
  writeFileSync(join(config, "config.json"), "{}")
  const places = { "data-root": "data", "exec-root": "run", pidfile: "docker.pid" }
  const child = spawn("dockerd", [
    "--host",
    host,
    "--storage-driver=vfs",
    "--bridge=none",
    "--iptables=false",
    "--ip6tables=false",
    ...Object.entries(places).map(([name, place]) => `--${name}=${join(folder, place)}`)
  ], { stdio: ["ignore", "ignore", "pipe"] })
  const log: Array<string> = []
  const stop = async () => {
    child.kill("SIGTERM")
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  }
  for await (const chunk of child.stderr) {
    log.push(String(chunk))
    if (log.join("").includes("API listen on")) {
      child.stderr.resume()
      return { env: { DOCKER_HOST: host, DOCKER_CONFIG: config }, stop }
    }
  }
  throw new Error(`dockerd ended: ${log.join("").slice(-2_000)}`)
}
