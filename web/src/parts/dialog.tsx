import { type ReactNode, useEffect, useId, useRef } from 'react'

/** Native dialog: the browser keeps the focus inside and closes it on Escape. */
export function Dialog({
  open,
  onClose,
  title,
  children,
}: {
  open: boolean
  onClose: () => void
  title: string
  children: ReactNode
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = ref.current
    if (open && dialog && !dialog.open) dialog.showModal()
    if (!open && dialog?.open) dialog.close()
  }, [open])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it already; a click beside it is for the mouse
    <dialog
      ref={ref}
      className="dialog"
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      {open && (
        <div className="dialog-body">
          <h2 id={titleId}>{title}</h2>
          {children}
        </div>
      )}
    </dialog>
  )
}

/**
 * Dialog that asks for a confirmation. `yes` and `no` are the labels of its buttons.
 * The caller shows the error if the action of `onYes` fails.
 */
export function ConfirmDialog(props: {
  open: boolean
  title: string
  yes: string
  no?: string
  busy?: boolean
  danger?: boolean
  onYes: () => void
  onClose: () => void
  children: ReactNode
}) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title={props.title}>
      <div className="stack">{props.children}</div>
      <div className="dialog-actions">
        <button type="button" className="button" data-act="no" onClick={props.onClose}>
          {props.no ?? 'Cancel'}
        </button>
        <button
          type="button"
          className={`button ${props.danger ? 'danger' : 'primary'}`}
          data-act="yes"
          disabled={props.busy}
          onClick={props.onYes}
        >
          {props.yes}
        </button>
      </div>
    </Dialog>
  )
}
