import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { freePort } from "../../support/http.ts"
import { proxyCore, startCommand } from "./processes.ts"

const configuration = (home: string, port: number, socketPath: string) => `
${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
worker_processes 1;
worker_rlimit_nofile 8192;
error_log ${home}/error.log;
pid ${home}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${home}/body;
  proxy_temp_path ${home}/proxy;
  fastcgi_temp_path ${home}/fastcgi;
  uwsgi_temp_path ${home}/uwsgi;
  scgi_temp_path ${home}/scgi;
  keepalive_requests 100000000;
  upstream machine { server unix:${socketPath}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location / {
      proxy_pass http://machine;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host localhost:8080;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Host $host;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}
`

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false))
    socket.on("connect", () => socket.destroy())
  })

/** nginx with one worker in front of the machine; undefined when it is not installed. */
export const startNginx = async (home: string, socketPath: string) => {
  if (spawnSync("nginx", ["-v"]).error !== undefined) return undefined
  const port = await freePort()
  const place = join(home, "nginx")
  mkdirSync(place)
  const file = join(place, "nginx.conf")
  writeFileSync(file, configuration(place, port, socketPath))
  const child = startCommand("nginx", ["-c", file, "-e", join(place, "error.log")], proxyCore)
  while (!await answers(port)) await new Promise((resolve) => setTimeout(resolve, 50))
  const children = () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ")
  return { port, worker: Number(children()[0]), stop: () => child.kill("SIGTERM") }
}
