{{ config(materialized='table') }}
with averages as (select avg(price) as price from {{ source('lake', 'item') }})
select g.id, g.price from {{ ref('growing') }} g, averages where g.price > averages.price
