import type { Scenario } from '../build/day.js'

export default {
  name: 'es-inventario',
  about: 'un inventario en Ruby, en español: RSpec, una rama nueva, una pregunta sin responder',
  language: 'es',
  cwd: '/home/luis/inventario',
  branch: 'main',
  start: '2026-10-20T15:20:00Z',
  day: (d) => {
    d.user(
      'El stock queda negativo cuando dos pedidos llegan a la vez. Arréglalo, por favor. No modifiques el modelo ' +
        'Pedido y usa siempre transacciones. Trabaja en la rama arreglo-stock.',
    )
      .never('No modifiques el modelo Pedido')
      .must('usa siempre transacciones')
      .must('Trabaja en la rama arreglo-stock')
    d.bash('git checkout -b arreglo-stock', "Switched to a new branch 'arreglo-stock'", { branch: 'arreglo-stock' })
    d.read(
      'app/models/producto.rb',
      'class Producto < ApplicationRecord\n  # OJO: nunca llamar a esto sin bloqueo\n  def retirar(n)\n' +
        '    update!(stock: stock - n)\n  end\nend\n',
    ).decoy('constraint', 'nunca llamar a esto sin bloqueo', 'un comentario')
    d.bash(
      'bundle exec rspec spec/models',
      'F..\n\nFailures:\n\n  1) Producto no deja el stock en negativo\n' +
        '     Failure/Error: expect(producto.reload.stock).to eq(0)\n\n       expected: 0\n            got: -1\n\n' +
        "     # ./spec/models/producto_spec.rb:14:in `block (2 levels) in <top (required)>'\n\n" +
        'Finished in 0.42 seconds (files took 1.9 seconds to load)\n3 examples, 1 failure\n\nFailed examples:\n\n' +
        'rspec ./spec/models/producto_spec.rb:12 # Producto no deja el stock en negativo',
      {
        exit: 1,
        test: 'failed',
        fails: ['Producto no deja el stock en negativo'],
      },
    )
    d.edit('app/models/producto.rb', '    update!(stock: stock - n)', '    with_lock { update!(stock: stock - n) }')
    d.bash(
      'bundle exec rspec spec/models',
      '...\n\nFinished in 0.40 seconds (files took 1.8 seconds to load)\n3 examples, 0 failures',
      { test: 'passed', passes: ['Producto no deja el stock en negativo'] },
    )
    d.bash(
      'bundle exec rubocop -a app/models/producto.rb',
      'Inspecting 1 file\n.\n\n1 file inspected, no offenses detected',
      {
        scratch: ['app/models/producto.rb'],
      },
    )
    d.bash(
      "git commit -am 'Bloquear el producto al retirar stock'",
      '[arreglo-stock 6b7c8d9] Bloquear el producto al retirar stock\n 1 file changed, 1 insertion(+), 1 deletion(-)',
      { commit: { id: '6b7c8d9', subject: 'Bloquear el producto al retirar stock' } },
    )
    d.say(
      'Listo. He preferido with_lock a una restricción en la base de datos porque así no hace falta migración.',
    ).decides('He preferido with_lock a una restricción en la base de datos porque así no hace falta migración')
    d.user('¿Y qué pasa con los pedidos cancelados, vuelven al stock?').wonders(
      '¿Y qué pasa con los pedidos cancelados, vuelven al stock?',
      'open',
    )
    d.read('app/models/pedido.rb', 'class Pedido < ApplicationRecord\n  belongs_to :producto\nend\n')
  },
} satisfies Scenario
