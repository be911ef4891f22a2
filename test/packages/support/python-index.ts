import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { type AddressInfo } from "node:net"
import { join } from "node:path"
import { temporaryDirectory } from "../../support/Settings.ts"

/** Why no package of Python can be made here, or undefined. */
export const missingPython = (): string | undefined => {
  try {
    execFileSync("python3", ["-I", "-c", "import pip"], { stdio: "ignore" })
    return undefined
  } catch {
    return "python3 with pip is not installed"
  }
}

const zip = `import json, sys, zipfile
files = json.load(sys.stdin)
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for name, content in files.items():
        wheel.writestr(name, content)`

/** A package index in this process (PEP 503), over plain http: list its `host` in ALLOWED_PRIVATE_HOSTS. */
export const startPythonIndex = async () => {
  const folder = temporaryDirectory("wheels")
  const wheels = new Map<string, Array<string>>()

  const server = createServer((request, response) => {
    const [, kind, name = ""] = decodeURIComponent(request.url ?? "").split("/")
    const found = wheels.get(name)
    if (kind === "files") return response.end(readFileSync(join(folder, name)))
    if (found === undefined) return response.writeHead(404).end()
    const links = found.map((file) => {
      const sha256 = createHash("sha256").update(readFileSync(join(folder, file))).digest("hex")
      return `<a href="/files/${file}#sha256=${sha256}">${file}</a>`
    })
    response.setHeader("content-type", "text/html")
    response.end(`<!DOCTYPE html><html><body>${links.join("\n")}</body></html>`)
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`

  const publish = (
    name: string,
    version: string,
    files: Readonly<Record<string, string>>,
    { requires = [] as ReadonlyArray<string>, scripts = "" } = {}
  ) => {
    const module = name.replaceAll("-", "_")
    const info = `${module}-${version}.dist-info`
    const metadata = [
      "Metadata-Version: 2.1",
      `Name: ${name}`,
      `Version: ${version}`,
      "Provides-Extra: more",
      ...requires.map((one) => `Requires-Dist: ${one}`)
    ]
    const all = {
      ...files,
      [`${info}/METADATA`]: `${metadata.join("\n")}\n`,
      [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
      [`${info}/entry_points.txt`]: `[other]\nx = y:z\n\n[console_scripts]\n${scripts}\n`
    }
    const record = [...Object.keys(all), `${info}/RECORD`].map((file) => `${file},,`).join("\n")
    const file = `${module}-${version}-py3-none-any.whl`
    execFileSync("python3", ["-I", "-c", zip, join(folder, file)], {
      input: JSON.stringify({ ...all, [`${info}/RECORD`]: `${record}\n` })
    })
    wheels.set(name, [...wheels.get(name) ?? [], file])
  }

  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, "close")
  }
  return { host, index: `http://${host}/simple`, publish, close }
}

/** A server of MCP over standard input and output, in Python alone. */
export const pythonServer = `import json, sys
from greeting_words import WORD
def main():
    for line in sys.stdin:
        message = json.loads(line)
        method, id = message.get("method"), message.get("id")
        if id is None:
            continue
        if method == "initialize":
            result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "py", "version": "1"}}
        elif method == "tools/list":
            result = {"tools": [{"name": "who", "inputSchema": {"type": "object"}}]}
        elif method == "tools/call":
            import hashlib, ssl, sqlite3
            told = {"word": WORD, "argv": sys.argv, "path": sys.path, "hash": hashlib.sha256(b"x").hexdigest()}
            result = {"content": [{"type": "text", "text": json.dumps(told)}]}
        else:
            result = {}
        print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
class App:
    run = staticmethod(main)
app = App()
`
