import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** State 0A of /proc/net/tcp (proc(5)) is a socket that listens. */
const LISTEN = "0A"

interface Listener {
  readonly port: number
  readonly inode: string
}

/** Columns: number, local address (hexadecimal, `ADDRESS:PORT`), remote address, state, …, inode at the tenth place. */
export const listenersIn = (table: string): ReadonlyArray<Listener> =>
  table.split("\n").slice(1).flatMap((line) => {
    const fields = line.trim().split(/\s+/)
    const [, local = "", , state] = fields
    const port = Number.parseInt(local.slice(local.lastIndexOf(":") + 1), 16)
    return state === LISTEN && Number.isInteger(port) ? [{ port, inode: fields[9] ?? "" }] : []
  })

const tableOf = (pid: number, name: string) => {
  try {
    return readFileSync(`/proc/${pid}/net/${name}`, "latin1")
  } catch {
    // Without IPv6 there is no tcp6, and a process may have ended.
    return ""
  }
}

const socketsOf = (pid: number): ReadonlyArray<string> => {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
      } catch {
        return []
      }
    })
  } catch {
    return []
  }
}

/** The TCP ports that are listened on in a process's network namespace, lowest first, without those of `without`. */
export const listeningPorts = (pid: number, without: ReadonlyArray<number>): ReadonlyArray<number> => {
  const known = new Set(without.flatMap(socketsOf))
  const found = [...listenersIn(tableOf(pid, "tcp")), ...listenersIn(tableOf(pid, "tcp6"))]
  const ports = found.filter(({ inode }) => !known.has(inode)).map(({ port }) => port)
  return [...new Set(ports)].sort((a, b) => a - b)
}
