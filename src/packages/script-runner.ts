import type * as ChildProcess from "node:child_process"
import type * as Fs from "node:fs"
import type { Socket } from "node:net"
import type * as Net from "node:net"

/**
 * The process of a machine that runs install scripts: it has npm run them, then hands out the files on the machine's
 * port (`script-files.ts` has the format). What runs beside it is as hostile as the package: nobody relies on it.
 *
 * It is a program of its own, made from this function's text: it may use nothing from outside its own body.
 *
 * Its arguments are the folder of the package, the program of npm, and the port.
 */
export function scriptRunner(require: NodeJS.Require): void {
  const fs = require("node:fs") as typeof Fs
  const net = require("node:net") as typeof Net
  const { spawn } = require("node:child_process") as typeof ChildProcess
  const [, , image = "", npm = "", port] = process.argv

  /** A host without copy-on-write mounts gives us the image read-only: there the work is done in /tmp. */
  const writable = () => {
    try {
      fs.mkdirSync(`${image}/.berth`)
      fs.rmdirSync(`${image}/.berth`)
      return image
    } catch {
      fs.cpSync(image, `/tmp${image}`, { recursive: true })
      return `/tmp${image}`
    }
  }
  const app = fs.realpathSync(writable())

  const settings = ["cache=/tmp/npm", "userconfig=/tmp/npmrc", "globalconfig=/tmp/npmrc-global", "loglevel=error"]
  const flags = ["foreground-scripts", "no-audit", "no-fund", "no-update-notifier", "no-progress", "offline"]
  const child = spawn(
    process.execPath,
    [npm, "rebuild", "--ignore-scripts=false", "--logs-max=0", ...[...flags, ...settings].map((flag) => `--${flag}`)],
    { cwd: app, stdio: ["ignore", "inherit", "inherit"] }
  )

  const chunk = Buffer.allocUnsafe(256 * 1024)
  const send = (socket: Socket, bytes: Buffer) =>
    new Promise<void>((resolve, reject) => socket.write(bytes, (error) => error ? reject(error) : resolve()))
  const sendHeader = (socket: Socket, header: object) => {
    const text = Buffer.from(JSON.stringify(header))
    const size = Buffer.alloc(4)
    size.writeUInt32BE(text.length)
    return send(socket, Buffer.concat([size, text]))
  }
  const sendFile = async (socket: Socket, path: string, from: string) => {
    const file = fs.openSync(from, "r")
    try {
      const { mode, size } = fs.fstatSync(file)
      await sendHeader(socket, { path, size, mode: mode & 0o777 })
      for (let left = size; left > 0;) {
        const read = fs.readSync(file, chunk, 0, Math.min(chunk.length, left), null)
        if (read === 0) throw new Error(`${path} became shorter`)
        await send(socket, Buffer.from(chunk.subarray(0, read)))
        left -= read
      }
    } finally {
      fs.closeSync(file)
    }
  }
  /** Where a link leads, if that is a file of the package: images have no links, and it is copied instead. */
  const target = (path: string) => {
    try {
      const real = fs.realpathSync(`${app}/${path}`)
      return real.startsWith(`${app}/node_modules/`) && fs.statSync(real).isFile() ? real : undefined
    } catch {
      return undefined
    }
  }
  const sendAll = async (socket: Socket, folder: string): Promise<void> => {
    await sendHeader(socket, { path: folder })
    for (const entry of fs.readdirSync(`${app}/${folder}`, { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        // npm's links to programs, which would find nothing beside their copies.
        if (entry.name !== ".bin") await sendAll(socket, path)
        continue
      }
      const from = entry.isFile() ? `${app}/${path}` : entry.isSymbolicLink() ? target(path) : undefined
      if (from !== undefined) await sendFile(socket, path, from)
    }
  }

  child.on("error", (error) => {
    console.error(error.message)
    process.exit(127)
  })
  child.on("close", (code) => {
    if (code !== 0) process.exit(code ?? 137)
    try {
      // What scripts left running must not change files any more.
      process.kill(-1, "SIGKILL")
    } catch {
      // There was nothing.
    }
    const server = net.createServer((socket) => {
      socket.on("error", () => process.exit(1))
      sendAll(socket, "node_modules").then(() => sendHeader(socket, { end: true })).then(
        () => socket.end(() => process.exit(0)),
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        }
      )
    })
    server.listen(Number(port), "127.0.0.1")
  })
}
