/**
 * Normalises a number to E.164: removes spaces, dots, hyphens and brackets, and a zero in brackets, which is dialled
 * only within a country. Undefined when the result is not E.164.
 */
export const international = (phone: string) => {
  const digits = phone.replace(/\(\s*0\s*\)/, "").replace(/[\s().-]/g, "")
  return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : undefined
}

/** Whether two texts are the same number, however each is formatted. */
export const samePhone = (one: string | null, other: string | null) => {
  if (one === null || other === null) return false
  return (international(one) ?? one) === (international(other) ?? other)
}
