"""The code of the threads that share loops: `worker`, and `run`, which hands a loop to them.

A job lies in the memory of the call that it belongs to. The call puts its address into the places
of idle workers and wakes them. A worker takes the address out before it begins; where the call is
done first, it takes the address back itself. So nobody reads a job that is over.
"""

from __future__ import annotations

from .machine import address_of, machine

__all__ = ["code"]


def code(name: str) -> int:
    """The address of a function.

    worker: (its place in the pool).
    run: (pool, function of a context and a number, context, how many numbers, most workers).
    """
    triple = machine().triple
    x86 = triple.startswith(("x86", "i386", "i686"))
    text = TYPES + (WORKER if name == "worker" else RUN) + (X86 if x86 else OTHERS)
    return address_of(f'target triple = "{triple}"\n{text}')


TYPES = """
; function, context, number of ranges, next range, who is at it, a lock, mode, flags
%Job = type { ptr, ptr, i64, i64, i64, ptr, i32, i32 }
%Worker = type { ptr, ptr, ptr, i64, ptr }
%Pool = type { i64, i64, ptr, ptr }

define internal void @work(ptr %job) {
start:
  %f = load ptr, ptr %job
  %context.at = getelementptr %Job, ptr %job, i64 0, i32 1
  %context = load ptr, ptr %context.at
  %count.at = getelementptr %Job, ptr %job, i64 0, i32 2
  %count = load i64, ptr %count.at
  %next = getelementptr %Job, ptr %job, i64 0, i32 3
  br label %take
take:
  %k = atomicrmw add ptr %next, i64 1 seq_cst
  %more = icmp ult i64 %k, %count
  br i1 %more, label %do, label %end
do:
  call void %f(ptr %context, i64 %k)
  br label %take
end:
  ret void
}
"""

WORKER = """
define void @NAME(ptr %self) {
start:
  %pool.at = getelementptr %Worker, ptr %self, i64 0, i32 4
  %pool = load ptr, ptr %pool.at
  %acquire.at = getelementptr %Pool, ptr %pool, i64 0, i32 2
  %acquire = load ptr, ptr %acquire.at
  %release.at = getelementptr %Pool, ptr %pool, i64 0, i32 3
  %release = load ptr, ptr %release.at
  %wake = load ptr, ptr %self
  %place = getelementptr %Worker, ptr %self, i64 0, i32 2
  br label %wait
wait:
  %woken = call i32 %acquire(ptr %wake, i32 1)
  %job = atomicrmw xchg ptr %place, ptr null seq_cst
  %nothing = icmp eq ptr %job, null
  br i1 %nothing, label %wait, label %do
do:
  %mode.at = getelementptr %Job, ptr %job, i64 0, i32 6
  %mode = load i32, ptr %mode.at
  call void @set_mode(i32 %mode)
  call void @work(ptr %job)
  %now = call i32 @mode()
  %raised = and i32 %now, 63
  %flags.at = getelementptr %Job, ptr %job, i64 0, i32 7
  %before = atomicrmw or ptr %flags.at, i32 %raised seq_cst
  %done.at = getelementptr %Job, ptr %job, i64 0, i32 5
  %done = load ptr, ptr %done.at
  %active = getelementptr %Job, ptr %job, i64 0, i32 4
  %left = atomicrmw sub ptr %active, i64 1 seq_cst
  %last = icmp eq i64 %left, 1
  br i1 %last, label %tell, label %wait
tell:
  call void %release(ptr %done)
  br label %wait
}
"""

RUN = """
define void @NAME(ptr %pool, ptr %f, ptr %context, i64 %count, i64 %most) {
start:
  %job = alloca %Job, align 64
  %mine = alloca ptr, i64 %most
  store ptr %f, ptr %job
  %context.at = getelementptr %Job, ptr %job, i64 0, i32 1
  store ptr %context, ptr %context.at
  %count.at = getelementptr %Job, ptr %job, i64 0, i32 2
  store i64 %count, ptr %count.at
  %next = getelementptr %Job, ptr %job, i64 0, i32 3
  store i64 0, ptr %next
  %active = getelementptr %Job, ptr %job, i64 0, i32 4
  store i64 1, ptr %active
  %done.at = getelementptr %Job, ptr %job, i64 0, i32 5
  store ptr null, ptr %done.at
  %mode.at = getelementptr %Job, ptr %job, i64 0, i32 6
  %mode = call i32 @mode()
  %quiet = and i32 %mode, -64
  store i32 %quiet, ptr %mode.at
  %flags.at = getelementptr %Job, ptr %job, i64 0, i32 7
  store i32 0, ptr %flags.at
  %acquire.at = getelementptr %Pool, ptr %pool, i64 0, i32 2
  %acquire = load ptr, ptr %acquire.at
  %release.at = getelementptr %Pool, ptr %pool, i64 0, i32 3
  %release = load ptr, ptr %release.at
  %workers = load atomic i64, ptr %pool acquire, align 8
  br label %ask

ask:
  %k = phi i64 [ 0, %start ], [ %k.next, %asked ]
  %n = phi i64 [ 0, %start ], [ %n.next, %asked ]
  %others = icmp ult i64 %k, %workers
  %wanted = icmp ult i64 %n, %most
  %go = and i1 %others, %wanted
  br i1 %go, label %try, label %begin
try:
  %k.next = add i64 %k, 1
  %at = shl i64 %k.next, 7
  %worker = getelementptr i8, ptr %pool, i64 %at
  %busy = getelementptr %Worker, ptr %worker, i64 0, i32 3
  %is.busy = load atomic i64, ptr %busy monotonic, align 8
  %seems = icmp eq i64 %is.busy, 0
  br i1 %seems, label %claim, label %asked
claim:
  %pair = cmpxchg ptr %busy, i64 0, i64 1 seq_cst seq_cst
  %got = extractvalue { i64, i1 } %pair, 1
  br i1 %got, label %hand, label %asked
hand:
  %mine.at = getelementptr ptr, ptr %mine, i64 %n
  store ptr %worker, ptr %mine.at
  %is.first = icmp eq i64 %n, 0
  br i1 %is.first, label %first, label %give
first:
  %own.at = getelementptr %Worker, ptr %worker, i64 0, i32 1
  %own = load ptr, ptr %own.at
  store ptr %own, ptr %done.at
  br label %give
give:
  %n.more = add i64 %n, 1
  %before = atomicrmw add ptr %active, i64 1 seq_cst
  %place = getelementptr %Worker, ptr %worker, i64 0, i32 2
  store atomic ptr %job, ptr %place seq_cst, align 8
  %wake = load ptr, ptr %worker
  call void %release(ptr %wake)
  br label %asked
asked:
  %n.next = phi i64 [ %n, %try ], [ %n, %claim ], [ %n.more, %give ]
  br label %ask

begin:
  call void @work(ptr %job)
  br label %take

take:
  %t = phi i64 [ 0, %begin ], [ %t.next, %taken ]
  %some = icmp ult i64 %t, %n
  br i1 %some, label %back, label %look
back:
  %back.at = getelementptr ptr, ptr %mine, i64 %t
  %asleep = load ptr, ptr %back.at
  %its = getelementptr %Worker, ptr %asleep, i64 0, i32 2
  %swap = cmpxchg ptr %its, ptr %job, ptr null seq_cst seq_cst
  %slept = extractvalue { ptr, i1 } %swap, 1
  br i1 %slept, label %less, label %taken
less:
  %one.less = atomicrmw sub ptr %active, i64 1 seq_cst
  br label %taken
taken:
  %t.next = add i64 %t, 1
  br label %take

look:
  %spin = phi i64 [ 0, %take ], [ %spin.next, %again ]
  %now = load atomic i64, ptr %active acquire, align 8
  %alone = icmp eq i64 %now, 1
  br i1 %alone, label %free, label %again
again:
  call void @pause()
  %spin.next = add i64 %spin, 1
  %still = icmp ult i64 %spin.next, 1000
  br i1 %still, label %look, label %sleep
sleep:
  %left = atomicrmw sub ptr %active, i64 1 seq_cst
  %last = icmp eq i64 %left, 1
  br i1 %last, label %free, label %rest
rest:
  %done = load ptr, ptr %done.at
  %woken = call i32 %acquire(ptr %done, i32 1)
  br label %free

free:
  %u = phi i64 [ 0, %look ], [ 0, %sleep ], [ 0, %rest ], [ %u.next, %freed ]
  %any = icmp ult i64 %u, %n
  br i1 %any, label %freed, label %end
freed:
  %free.at = getelementptr ptr, ptr %mine, i64 %u
  %idle = load ptr, ptr %free.at
  %its.busy = getelementptr %Worker, ptr %idle, i64 0, i32 3
  store atomic i64 0, ptr %its.busy release, align 8
  %u.next = add i64 %u, 1
  br label %free

end:
  %flags = load atomic i32, ptr %flags.at acquire, align 4
  %mode.now = call i32 @mode()
  %mode.new = or i32 %mode.now, %flags
  call void @set_mode(i32 %mode.new)
  ret void
}
"""

#: How the processor rounds and what it flushes is the caller's; the flags that a worker raises
#: are the caller's as well.
X86 = """
declare void @llvm.x86.sse2.pause()
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

define internal void @pause() {
  call void @llvm.x86.sse2.pause()
  ret void
}

define internal i32 @mode() noinline {
  %place = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %place)
  %mode = load volatile i32, ptr %place
  ret i32 %mode
}

define internal void @set_mode(i32 %mode) noinline {
  %place = alloca i32
  store volatile i32 %mode, ptr %place
  call void @llvm.x86.sse.ldmxcsr(ptr %place)
  ret void
}
"""

OTHERS = """
define internal void @pause() {
  ret void
}

define internal i32 @mode() {
  ret i32 0
}

define internal void @set_mode(i32 %mode) {
  ret void
}
"""
