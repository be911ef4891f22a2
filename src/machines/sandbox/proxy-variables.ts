/**
 * Where the keeper listens as a proxy inside each machine: a port that a machine has no privilege to take, so that it
 * stays free for this, at an address that no name has.
 */
export const proxy = { proxyAddress: "127.80.0.1", proxyPort: 880 } as const

/** For programs that use a proxy when told: they also reach ports and addresses that no name's address stands for. */
export const proxyVariables = (authName: string): Readonly<Record<string, string>> => {
  const url = `http://${proxy.proxyAddress}:${proxy.proxyPort}`
  const own = ["localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0", authName].filter((host) => host !== "").join(",")
  const variables = { HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: own }
  return {
    ...variables,
    ...Object.fromEntries(Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value])),
    // Node.js from 22.21 and 24 on heeds the others only with this.
    NODE_USE_ENV_PROXY: "1"
  }
}
