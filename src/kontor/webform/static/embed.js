/*
 * Opens Kontor's web form in a popup or a frame of your page, and tells how it ended.
 *
 *   const form = Kontor.open({ url, mode: "popup", onOutcome: (outcome) => … });
 *
 * `url` is the Location that the API answered with 451, with your callbackUrl appended. Call it from a click, else the
 * browser blocks the popup. `outcome` is { baReentry, accessId }, for a payment { baReentry, paymentId }; baReentry is
 * null when the user closed the window. The same comes as the event `kontor:outcome` on `document`. Only origins that
 * the operator has listed for your tenant are told anything. Whatever the outcome says, ask the API: a page can be tampered with, the API cannot.
 */
(() => {
  "use strict";

  const CLOSED_CHECK_MS = 500;

  function open({ url, mode = "popup", container = document.body, onOutcome = () => {} }) {
    const address = new URL(url, location.href);
    address.searchParams.set("display", mode === "frame" ? "frame" : "popup");
    const opened = mode === "frame" ? openFrame(address, container) : openPopup(address);
    let isDone = false;
    let timer = 0;

    function finish(outcome) {
      if (isDone) return;
      isDone = true;
      window.clearInterval(timer);
      window.removeEventListener("message", listen);
      opened.close();
      onOutcome(outcome);
      document.dispatchEvent(new CustomEvent("kontor:outcome", { detail: outcome }));
    }

    function listen(event) {
      if (event.origin !== address.origin || event.source !== opened.window()) return;
      const message = event.data;
      if (!message || message.kontor !== "outcome") return;
      const { baReentry, accessId, paymentId } = message;
      finish(paymentId ? { baReentry, paymentId } : { baReentry, accessId });
    }

    window.addEventListener("message", listen);
    if (opened.isClosed) {
      timer = window.setInterval(() => {
        if (opened.isClosed()) finish({ baReentry: null, accessId: null });
      }, CLOSED_CHECK_MS);
    }
    return { close: () => finish({ baReentry: null, accessId: null }) };
  }

  function openPopup(address) {
    const width = Math.min(560, screen.availWidth);
    const height = Math.min(820, screen.availHeight);
    const left = Math.max(0, Math.round((screen.availWidth - width) / 2));
    const top = Math.max(0, Math.round((screen.availHeight - height) / 2));
    const place = `popup,width=${width},height=${height},left=${left},top=${top}`;
    const popup = window.open(address.href, "kontor-form", place);
    if (!popup) throw new Error("The browser blocked the popup; call Kontor.open from a click.");
    return { window: () => popup, close: () => popup.close(), isClosed: () => popup.closed };
  }

  function openFrame(address, container) {
    const frame = document.createElement("iframe");
    frame.src = address.href;
    frame.title = "Kontor";
    frame.className = "kontor-frame";
    frame.referrerPolicy = "no-referrer";
    frame.style.cssText = "border:0;width:100%;height:46rem;max-height:100vh";
    container.append(frame);
    return { window: () => frame.contentWindow, close: () => frame.remove() };
  }

  window.Kontor = Object.freeze({ open });
})();
