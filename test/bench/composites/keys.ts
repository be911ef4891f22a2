/** A key for each client: they count on a row each. */
export const hubKeys = async (url: string, count: number) => {
  const post = async <A>(path: string, body: object, token?: string) => {
    const headers = {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
    }
    const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    return (await answer.json() as { data: A }).data
  }
  const { token } = await post<{ token: string }>("/v1/auth/signup", {
    email: `bench-${Date.now()}@example.com`,
    password: "correct horse battery"
  })
  const keys: Array<string> = []
  while (keys.length < count) {
    keys.push((await post<{ key: string }>("/api/v1/hub/api-keys", { tier: "partner" }, token)).key)
  }
  return keys
}
