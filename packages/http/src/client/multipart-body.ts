/** A form as `multipart/form-data` (RFC 7578): nothing is read before it is sent, so it can be sent again. */
export function multipartBody(form: FormData): Blob {
  const boundary = `fetchwork-${crypto.randomUUID()}`;
  const parts: (string | Blob)[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quote(name)}"`;
    if (typeof value === "string") {
      parts.push(`${head}\r\n\r\n${lines(value)}\r\n`);
    } else {
      const type = value.type === "" ? "application/octet-stream" : value.type;
      parts.push(`${head}; filename="${quote(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`);
      parts.push(value, "\r\n");
    }
  }
  parts.push(`--${boundary}--\r\n`);
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` });
}

/** HTML, 4.10.21.8: what would end the name, or its line, is percent-encoded. */
function quote(name: string): string {
  return lines(name).replaceAll("\r\n", "%0D%0A").replaceAll('"', "%22");
}

/** The same: line breaks of text are CRLF. */
function lines(text: string): string {
  return text.replace(/\r\n?|\n/g, "\r\n");
}
