/** What connecting fails with where a machine has ended, or is not up yet. */
const notListening = new Set(["ENOENT", "ECONNREFUSED"])

/**
 * The failure of a socket in words that anybody may read: Node's own name where the socket is on this host. Its code
 * stays, and its cause is for the operator.
 */
export const withoutPlace = (failure: unknown): Error => {
  const error: NodeJS.ErrnoException & { readonly address?: unknown } = failure instanceof Error
    ? failure
    : new Error(String(failure))
  if (error.address === undefined) return error
  const { code = "unknown", syscall } = error
  const words = syscall === "connect" && notListening.has(code)
    ? "the machine no longer listens"
    : `the socket fails with ${code}`
  return Object.assign(new Error(words, { cause: error }), { code })
}
