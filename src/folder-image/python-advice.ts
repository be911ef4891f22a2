import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"

const has = (folder: string, name: string) => existsSync(join(folder, name))

const programs = (folder: string) => readdirSync(folder).filter((name) => name.endsWith(".py"))

/** Whether a folder is a project of Python. */
export const isPython = (folder: string): boolean =>
  existsSync(folder) &&
  (["pyproject.toml", "requirements.txt", "setup.py"].some((name) => has(folder, name)) || programs(folder).length > 0)

/** How a project of Python becomes a server: from PyPI, or by the Dockerfile that this prints. */
export const pythonAdvice = (folder: string): string => {
  const install = has(folder, "requirements.txt") ? "-r requirements.txt" : has(folder, "pyproject.toml") ? "." : "mcp"
  const found = programs(folder)
  const file = ["server.py", "main.py", "app.py"].find((name) => found.includes(name)) ?? found[0] ?? "server.py"
  return [
    "A package of PyPI is deployed as it is: berth deploy pypi:NAME. This folder becomes a server by a Dockerfile such as",
    "  FROM python:3.13-slim",
    "  WORKDIR /app",
    "  COPY . .",
    `  RUN pip install --no-cache-dir ${install}`,
    "  ENV FASTMCP_HOST=0.0.0.0 FASTMCP_PORT=8080",
    `  CMD ["python", "${file}"]`,
    "where the program listens on port 8080: of the Python SDK mcp.run(transport=\"streamable-http\")"
  ].join("\n")
}
