import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { temporaryDirectory } from "../../support/Settings.ts"

const makeCertificate = () => {
  const folder = temporaryDirectory("certificate")
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")]
  execFileSync("openssl", [
    ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=documents".split(" "),
    ...["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
  ], { stdio: "ignore" })
  return { key, certificate }
}

/**
 * A host of clients' metadata documents on this machine, over https as in the world; a platform with these `variables`
 * trusts its certificate and lets itself be led there.
 */
export const useDocumentHost = () => {
  const { certificate, key } = makeCertificate()
  const documents = new Map<string, unknown>()
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, ({ url = "" }, response) => {
    const document = documents.get(url)
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" })
    response.end(JSON.stringify(document ?? {}))
  })
  beforeAll(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening")
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const host = () => `127.0.0.1:${(server.address() as AddressInfo).port}`

  /** Publishes the document of a client at a URL of its own, which is its id. */
  const publish = (name: string, ...redirectUris: ReadonlyArray<string>) => {
    const path = `/clients/${documents.size}.json`
    const id = `https://${host()}${path}`
    documents.set(path, {
      client_id: id,
      client_name: name,
      redirect_uris: redirectUris,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none"
    })
    return id
  }
  return { host, publish, variables: { NODE_EXTRA_CA_CERTS: certificate, ALLOWED_PRIVATE_HOSTS: "127.0.0.1" } }
}
